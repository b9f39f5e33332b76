
"use strict";
// The page is whole without this: it makes the headings of tables sort, and spans of time lines say
// what they are when the pointer or the keyboard is on them.
function keyOf(row, column) {
  const cell = row.cells[column];
  const key = cell.dataset.key;
  return key === undefined ? cell.textContent : Number(key);
}
function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
function sortBy(table, column) {
  const heading = table.tHead.rows[0].cells[column];
  // Numbers start with the largest, texts with the first.
  const rising = heading.getAttribute("aria-sort") === "descending" ||
    (!heading.hasAttribute("aria-sort") && !heading.classList.contains("n"));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const rows = Array.from(table.tBodies[0].rows);
  rows.sort((a, b) => compare(keyOf(a, column), keyOf(b, column)) * (rising ? 1 : -1));
  table.tBodies[0].append(...rows);
}
for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.addEventListener("click", () => sortBy(table, column));
    cell.replaceChildren(button);
  });
}
// One stop of the Tab key a picture; arrows go from span to span.
for (const picture of document.querySelectorAll("svg.lanes")) {
  const spans = Array.from(picture.querySelectorAll("rect"));
  const about = document.createElement("output");
  about.className = "about";
  picture.parentElement.after(about);
  const show = (span) => { about.textContent = span.firstElementChild.textContent; };
  let current = 0;
  const go = (to) => {
    spans[current].setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(spans.length - 1, to));
    spans[current].setAttribute("tabindex", "0");
    spans[current].focus();
  };
  for (const span of spans) {
    span.setAttribute("role", "img");
    span.setAttribute("tabindex", "-1");
    span.addEventListener("pointerenter", () => show(span));
    span.addEventListener("focus", () => { current = spans.indexOf(span); show(span); });
  }
  if (spans.length > 0) spans[0].setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? spans.length - 1 : current + step;
    if (Number.isNaN(to)) return;
    event.preventDefault();
    go(to);
  });
}
