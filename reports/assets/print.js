/* SPDX-License-Identifier: BSD-2-Clause */
/* Nobody can open a fold on paper: all that are not hidden by a filter open for printing, and close again afterwards. */
(function () {
  "use strict";
  var opened = [];
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not([open])").forEach(function (fold) {
      if (fold.closest("[hidden], .screen, #v-amb .card")) return; /* of a reading its first line is enough */
      fold.open = true;
      opened.push(fold);
    });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (fold) { fold.open = false; });
    opened = [];
  });
}());
