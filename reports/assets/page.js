/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter box, verdict toggles, fold button, copy buttons. The page says everything without them. */
(function () {
  "use strict";
  var controls = document.getElementById("controls");
  var filter = document.getElementById("filter");
  var shown = document.getElementById("shown");
  var fold = document.getElementById("fold");
  var toggles = Array.prototype.slice.call(document.querySelectorAll("[data-t]"));
  var groups = Array.prototype.slice.call(document.querySelectorAll("#tree details, details.finding, details.fold, section.list"));
  var sections = groups.filter(function (g) { return g.tagName.toLowerCase() === "details"; });
  var items = Array.prototype.map.call(document.querySelectorAll("[data-v]"), function (element) {
    return { element: element, verdict: element.getAttribute("data-v"), text: "", row: element.tagName.toLowerCase() === "li" };
  });
  var wasOpen = sections.map(function (s) { return s.open; });
  var present = {};
  items.forEach(function (item) { present[item.verdict] = true; });
  toggles.forEach(function (t) { t.hidden = !present[t.getAttribute("data-t")]; });
  controls.hidden = false;

  function sectionName(element) {
    var details = element.closest("details.sec"), name = details && details.querySelector(".name");
    return name ? " " + name.textContent : "";
  }

  function apply() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    var off = {}, rows = 0, all = 0;
    toggles.forEach(function (t) { off[t.getAttribute("data-t")] = t.getAttribute("aria-pressed") === "false"; });
    items.forEach(function (item) {
      if (words.length && !item.text) item.text = (item.element.textContent + sectionName(item.element)).toLowerCase();
      var show = !off[item.verdict] && words.every(function (w) { return item.text.indexOf(w) >= 0; });
      item.element.hidden = !show;
      if (item.row) { all += 1; rows += show ? 1 : 0; }
    });
    groups.forEach(function (g) { g.hidden = !g.querySelector("[data-v]:not([hidden])"); });
    if (words.length) sections.forEach(function (s) { s.open = !s.hidden; });
    shown.textContent = rows === all ? "" : rows + " of " + all + " requirements shown";
  }

  var timer;
  filter.addEventListener("input", function () {
    if (filter.value === "") sections.forEach(function (s, i) { s.open = wasOpen[i]; });
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  toggles.forEach(function (t) {
    t.addEventListener("click", function () {
      t.setAttribute("aria-pressed", t.getAttribute("aria-pressed") === "true" ? "false" : "true");
      apply();
    });
  });
  fold.addEventListener("click", function () {
    var open = fold.getAttribute("aria-pressed") !== "true";
    fold.setAttribute("aria-pressed", open ? "true" : "false");
    fold.textContent = open ? "Close all" : "Open all";
    sections.forEach(function (s) { s.open = open; });
  });
  Array.prototype.forEach.call(document.querySelectorAll(".replay code"), function (code) {
    if (!navigator.clipboard) return;
    var button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(code.textContent).then(function () { button.textContent = "Copied"; });
    });
    code.parentNode.appendChild(button);
  });
  function reveal() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var e = target; e; e = e.parentElement) if (e.tagName.toLowerCase() === "details") e.open = true;
    var inner = target && target.querySelector("details");
    if (inner && inner.parentElement === target) inner.open = true; /* a card is a fold itself */
    if (target) target.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();
}());
