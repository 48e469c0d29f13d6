const inClass: Record<string, string> = {
  alnum: "0-9A-Za-z", alpha: "A-Za-z", ascii: "\\0-\\x7f", blank: "\\t ", cntrl: "\\0-\\x1f\\x7f", digit: "0-9", graph: "!-~", lower: "a-z", print: " -~",
  punct: "!-\\/:-@\\[-`{-~", space: "\\t-\\r ", upper: "A-Z", word: "0-9A-Za-z_", xdigit: "0-9A-Fa-f",
};
const escapes: Record<string, string> = {
  d: "0-9", D: "\\0-\\/:-\\u{10ffff}", s: "\\t\\n\\f\\r ", S: "\\0-\\x08\\x0b\\x0e-\\x1f!-\\u{10ffff}", w: "0-9A-Za-z_", W: "\\0-\\/:-@\\[-\\^`{-\\u{10ffff}",
  a: "\\x07", t: "\\t", n: "\\n", f: "\\f", r: "\\r", v: "\\v",
};
const places: Record<string, string> = { A: "(?<![^])", z: "(?![^])", b: "\\b", B: "\\B" };
const code = (c: string): string => `\\u{${c.codePointAt(0)!.toString(16)}}`;

/** A regular expression as Go takes it (RE2's). What a browser's cannot say the same way is refused: flags anywhere but at the beginning, octal numbers. */
export function regexp(text: string): RegExp {
  const [begin, given = ""] = /^\(\?([ismU]+)\)/.exec(text) ?? [""];
  let rest = text.slice(begin.length);
  let out = "";
  const take = (what: RegExp): RegExpExecArray | null => {
    const m = what.exec(rest);
    if (m) rest = rest.slice(m[0].length);
    return m;
  };
  // What an escape stands for, as part of a class.
  const escaped = (): string | undefined => {
    const m = take(/^\\(?:x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([pP])(?:\{(\^?)(\w+)\}|([A-Z]))|([^]))/u);
    if (!m) return undefined;
    const [all, long, short, kind, not, name = m[6], one] = [m[0], m[1], m[2], m[3], m[4], m[5], m[7]];
    if (long ?? short) return `\\u{${long ?? short}}`;
    if (kind) return `\\${(kind === "P") === (not === "^") ? "p" : "P"}{${name.length > 2 ? "Script=" : ""}${name}}`;
    if (escapes[one]) return escapes[one];
    if (/[!-\/:-@[-`{-~]/.test(one)) return code(one);
    throw new Error(`invalid escape sequence: ${all}`);
  };
  const set = (): string => {
    let inside = take(/^\[\^/) ? "[^" : (take(/^\[/), "[");
    if (take(/^\]/)) inside += "\\]";
    for (let m; !take(/^\]/); ) {
      if (rest === "") throw new Error("missing closing ]");
      if ((m = take(/^\[:(\w+):\]/))) inside += inClass[m[1]] ?? refuse(m[0]);
      else inside += escaped() ?? (take(/^-/) ? "-" : code(take(/^[^]/u)![0]));
    }
    return inside + "]";
  };
  while (rest !== "") {
    let m;
    if ((m = take(/^\\Q([^]*?)(?:\\E|$)/))) out += [...m[1]].map(code).join("");
    else if ((m = take(/^\\([AzbB])/))) out += places[m[1]];
    else if (rest[0] === "\\") out += `[${escaped() ?? refuse("trailing \\")}]`;
    else if (rest[0] === "[") out += set();
    else if (take(/^\((?:\?(?::|P?<\w+>)|(?!\?))/)) out += "(?:";
    else if ((m = take(/^\(\?[^)]{0,9}/))) refuse(m[0]);
    else if ((m = take(/^\{(\d+)(?:,(\d*))?\}/))) out += Math.max(Number(m[1]), Number(m[2] ?? 0)) > 1000 ? refuse(m[0]) : m[0];
    else if (take(/^\./)) out += given.includes("s") ? "[^]" : "[^\\n]";
    else if (given.includes("m") && (m = take(/^[$^]/))) out += m[0] === "^" ? "(?<![^\\n])" : "(?![^\\n])";
    else if ((m = take(/^[$^*+?|)]/))) out += m[0];
    else out += code(take(/^[^]/u)![0]);
  }
  return new RegExp(out, "u" + (given.includes("i") ? "i" : ""));
}

function refuse(what: string): never {
  throw new Error(`not taken here: ${what}`);
}
