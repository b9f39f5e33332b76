
"use strict";
// The page is whole without this: it makes the headings of tables sort.
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
