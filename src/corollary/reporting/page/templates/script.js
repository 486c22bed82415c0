"use strict";
(function () {
  // Everything here only adds: the page is complete without it.
  var doc = document;
  function all(selector, root) { return Array.prototype.slice.call((root || doc).querySelectorAll(selector)); }
  function make(tag, attributes, text) {
    var node = doc.createElement(tag);
    Object.keys(attributes || {}).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // Sort a table by a click on a heading; data-v holds the exact number behind a rounded one.
  function value(cell) {
    var text = cell.getAttribute("data-v");
    if (text === null) text = cell.textContent.trim().replace(/−/g, "-").replace(/[,%]/g, "");
    var number = parseFloat(text);
    return isNaN(number) ? text.toLowerCase() : number;
  }
  all("table[data-sort]").forEach(function (table) {
    all("thead th", table).forEach(function (head, column) {
      if (!head.textContent.trim()) return;
      var button = make("button", { type: "button", title: "Sort" });
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      button.addEventListener("click", function () {
        var up = head.getAttribute("aria-sort") !== "ascending";
        all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var body = table.tBodies[0];
        all("tr", body).map(function (row, i) { return { row: row, key: value(row.cells[column]), i: i }; })
          .sort(function (a, b) {
            var mixed = typeof a.key !== typeof b.key;
            var order = mixed ? (typeof a.key === "number" ? -1 : 1) : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
            return (up ? order : -order) || a.i - b.i;
          })
          .forEach(function (item) { body.appendChild(item.row); });
      });
    });
  });

  // Filter columns and long tables by name.
  function addFilter(items, before, what) {
    if (items.length < 13) return;
    var input = make("input", { type: "search", "class": "filter", placeholder: "Filter " + items.length + " " + what, "aria-label": "Filter " + what });
    before.parentNode.insertBefore(input, before);
    input.addEventListener("input", function () {
      var wanted = input.value.toLowerCase();
      items.forEach(function (item) { item.hidden = item.getAttribute("data-name").indexOf(wanted) < 0; });
      if (wanted) all("details.more").forEach(function (d) { d.open = true; });
    });
  }
  var columns = all(".columns > .column");
  columns.forEach(function (c) { c.setAttribute("data-name", c.querySelector("h4").getAttribute("title").toLowerCase()); });
  if (columns.length) addFilter(columns, doc.querySelector(".columns"), "columns");
  all("table[data-filter]").forEach(function (table) {
    var rows = all("tbody tr", table);
    rows.forEach(function (row) { row.setAttribute("data-name", row.cells[0].textContent.toLowerCase()); });
    addFilter(rows, table, "rows");
  });

  // Exact values under the pointer: the drawings' own titles, without the browser's delay.
  var tip = null, owner = null;
  function hide() {
    if (tip) tip.remove();
    if (owner) owner.node.insertBefore(owner.title, owner.node.firstChild);
    tip = owner = null;
  }
  doc.addEventListener("pointerover", function (event) {
    var node = event.target;
    if (owner && owner.node === node) return;
    hide();
    if (!node.ownerSVGElement) return;
    var title = node.firstElementChild;
    if (!title || title.tagName.toLowerCase() !== "title") return;
    tip = make("div", { "class": "tip" }, title.textContent);
    owner = { node: node, title: title };
    title.remove();
    doc.body.appendChild(tip);
    var box = node.getBoundingClientRect();
    var x = Math.min(Math.max(box.left + box.width / 2 - tip.offsetWidth / 2, 6), innerWidth - tip.offsetWidth - 6);
    var y = box.top - tip.offsetHeight - 8;
    tip.style.left = x + "px";
    tip.style.top = (y < 4 ? box.bottom + 8 : y) + "px";
  });
  doc.addEventListener("scroll", hide, true);

  // A click on # copies the link to a claim.
  all("a.anchor").forEach(function (link) {
    link.addEventListener("click", function () {
      if (!navigator.clipboard) return;
      navigator.clipboard.writeText(link.href).then(function () {
        link.textContent = "link copied";
        setTimeout(function () { link.textContent = "#"; }, 1500);
      }, function () {});
    });
  });

  // The threshold, moved by hand, with what a mistake costs.
  all(".slider").forEach(function (box) {
    var fine = JSON.parse(box.getAttribute("data-fine"));
    var name = box.getAttribute("data-class"), other = box.getAttribute("data-other");
    var positives = +box.getAttribute("data-positives"), negatives = +box.getAttribute("data-n") - positives;
    var range = make("input", { type: "range", min: 1, max: 99, value: 50, "aria-label": "Threshold in per cent" });
    var cost = make("input", { type: "number", min: 0, step: "any", value: 1 });
    var label = make("label", {}, "One missed " + name + " costs as much as so many false alarms: ");
    var out = make("output");
    label.appendChild(cost);
    box.appendChild(make("h3", {}, "Move the threshold"));
    [range, out, label].forEach(function (node) { box.appendChild(node); });
    function show() {
      var at = fine[range.value - 1], weight = Math.max(parseFloat(cost.value) || 0, 0);
      var best = 0;
      function total(i) { return weight * fine[i][0] + fine[i][1]; }
      fine.forEach(function (_, i) { if (total(i) < total(best)) best = i; });
      var last = best;
      while (last + 1 < fine.length && total(last + 1) === total(best)) last += 1;
      var where = best === last ? (best + 1) + "%" : (best + 1) + "% to " + (last + 1) + "%";
      out.textContent = "From " + range.value + "%: " + at[0] + " of " + positives + " " + name + " missed, " + at[1] +
        " of " + negatives + " " + other + " are false alarms. Cheapest on these rows: " + where + ".";
    }
    range.addEventListener("input", show);
    cost.addEventListener("input", show);
    show();
  });

  // Mark the section being read in the contents.
  var links = all("nav a");
  var targets = links.map(function (link) { return doc.getElementById(link.getAttribute("href").slice(1)); });
  var waiting = false;
  function mark() {
    waiting = false;
    var here = 0;
    targets.forEach(function (target, i) { if (target.getBoundingClientRect().top < innerHeight * 0.35) here = i; });
    if (innerHeight + scrollY >= doc.documentElement.scrollHeight - 4) here = targets.length - 1;
    links.forEach(function (link, i) {
      link.classList.toggle("here", i === here);
      if (i === here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    });
  }
  addEventListener("scroll", function () { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
  mark();

  // Paper shows everything, also in browsers that cannot open folds by style.
  var opened = [];
  addEventListener("beforeprint", function () {
    opened = all("details:not([open])");
    opened.forEach(function (d) { d.open = true; });
  });
  addEventListener("afterprint", function () { opened.forEach(function (d) { d.open = false; }); });
})();
