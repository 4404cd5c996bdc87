// Tables as text: commas, semicolons or tabs, quotes as spreadsheets write them.

/** {names, columns}: every column is a list of text. */
export function table(text) {
  const rows = parse(text.replace(/^\uFEFF/, ""));
  if (rows.length < 2) throw new Error("the file has no rows; expected a heading and at least one row");
  const [names, ...body] = rows;
  const uneven = body.findIndex((row) => row.length !== names.length);
  if (uneven >= 0) {
    throw new Error(`row ${uneven + 1} has ${body[uneven].length} cells; expected ${names.length}, as the heading has`);
  }
  const columns = names.map((_, i) => body.map((row) => row[i]));
  return { names: unique(names.map((name, i) => name.trim() || `column ${i + 1}`)), columns };
}

/** Rows of cells. */
export function parse(text) {
  const mark = delimiter(text);
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length) {
    let cell;
    if (text[at] === '"') {
      let end = at + 1;
      while (end < text.length && !(text[end] === '"' && text[end + 1] !== '"')) end += text[end] === '"' ? 2 : 1;
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      while (at < text.length && text[at] !== mark && text[at] !== "\n" && text[at] !== "\r") at++;
    } else {
      let end = at;
      while (end < text.length && text[end] !== mark && text[end] !== "\n" && text[end] !== "\r") end++;
      cell = text.slice(at, end);
      at = end;
    }
    row.push(cell);
    if (text[at] === mark) {
      at++;
      if (at < text.length) continue;
      row.push("");
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at++;
    at++;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

/** Numbers of a column, or null where one cell is none. */
export function numbers(column, read = Number) {
  const values = new Float64Array(column.length);
  for (let i = 0; i < column.length; i++) {
    const cell = column[i].trim();
    values[i] = cell === "" ? NaN : read(cell);
    if (!Number.isFinite(values[i])) return null;
  }
  return values;
}

function delimiter(text) {
  const end = text.search(/[\r\n]/);
  const heading = end < 0 ? text : text.slice(0, end);
  const count = (mark) => heading.split(mark).length;
  return [",", ";", "\t"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

function unique(names) {
  const seen = new Map();
  return names.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}
