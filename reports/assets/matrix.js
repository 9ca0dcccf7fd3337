/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter box and the two boxes to tick. The page says everything without them. */
(function () {
  "use strict";
  var OPEN_ROWS = 20;
  var controls = document.getElementById("controls");
  var filter = document.getElementById("filter");
  var differing = document.getElementById("differing");
  var broken = document.getElementById("broken");
  var shown = document.getElementById("shown");
  var bodies = Array.prototype.slice.call(document.querySelectorAll("#tree details"));
  var rows = Array.prototype.map.call(document.querySelectorAll("#tree tr[data-v]"), function (row) {
    var standings = row.getAttribute("data-v").split(" ");
    return {
      row: row, text: row.textContent.toLowerCase(), differs: row.className === "differs",
      broken: standings.some(function (s) { return s === "fail" || s === "known" || s === "warn"; })
    };
  });

  var wasOpen = bodies.map(function (b) { return b.open; });

  function apply() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0;
    rows.forEach(function (r) {
      var show = (!differing.checked || r.differs) && (!broken.checked || r.broken) &&
        words.every(function (w) { return r.text.indexOf(w) >= 0; });
      r.row.hidden = !show;
      count += show ? 1 : 0;
    });
    bodies.forEach(function (b, i) {
      b.hidden = !b.querySelector("tr[data-v]:not([hidden])");
      b.open = words.length > 0 || differing.checked || broken.checked ? !b.hidden : wasOpen[i];
    });
    shown.textContent = count === rows.length ? "" : count + " of " + rows.length + " requirements shown";
  }
  /* The page opens where devices differ: a few screens of rows, and the names of the other documents and sections. */
  function begin() {
    var room = OPEN_ROWS;
    if (!rows.some(function (r) { return r.differs; })) return;
    differing.checked = true;
    apply();
    document.querySelectorAll("#tree details.sec:not([hidden])").forEach(function (section) {
      section.open = room > 0;
      room -= section.querySelectorAll("tr[data-v]:not([hidden])").length;
    });
    document.querySelectorAll("#tree > details").forEach(function (fold) { fold.open = fold.querySelector("details.sec[open]") !== null; });
  }
  [filter, differing, broken].forEach(function (input) { input.addEventListener("input", apply); });
  controls.hidden = false;
  begin();
  function reveal() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[hidden]")) { /* a link leads to what the boxes leave out */
      filter.value = "";
      differing.checked = broken.checked = false;
      apply();
    }
    for (var e = target; e; e = e.parentElement) if (e.tagName.toLowerCase() === "details") e.open = true;
    if (target) target.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();
}());
