/* SPDX-License-Identifier: BSD-2-Clause */
/* A letter of the grid opens the folds that it leads to; on paper what failed is open. The page says everything without it. */
(function () {
  "use strict";
  var opened = [];
  function open(target) {
    for (; target; target = target.parentElement && target.parentElement.closest("details")) {
      if (!target.open) {
        target.open = true;
        opened.push(target);
      }
    }
  }
  function follow() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName.toLowerCase() === "details") {
      open(target);
      opened = [];
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", follow);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details.fold > summary > .fail").forEach(function (badge) { open(badge.parentElement.parentElement); });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
    opened = [];
  });
  follow();
}());
