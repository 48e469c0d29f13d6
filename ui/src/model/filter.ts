import { summed } from "../base/column";
import { regexp } from "../base/regexp";
import type { Field, Fields } from "./known";
import { fetched, type Points } from "./load";
import type { WebWhere } from "./page.gen";

/** Whether a request, by its index in the points, is kept. */
export type Keep = (i: number) => boolean;

interface Token {
  text: string;
  quoted: boolean;
}

// A quoted text, an operator, a parenthesis, or a word.
const token = /[ \t\n]*(?:"([^"]*)"|'([^']*)'|(>=|<=|!=|!~|&&|\|\||==|[><=~()!])|([^ \t\n<>=~!()&|]+)|([^]+))/y;

function tokensOf(text: string): Token[] {
  const trimmed = text.replace(/[ \t\n]+$/, "");
  const out: Token[] = [];
  for (token.lastIndex = 0; token.lastIndex < trimmed.length; ) {
    const m = token.exec(trimmed)!;
    const quoted = m[1] ?? m[2];
    out.push({ text: quoted ?? m[3] ?? m[4] ?? m[5], quoted: quoted !== undefined });
  }
  return out;
}

const [longest, deepest] = [4096, 64];

/** Reads an expression as dwell show --where takes it (internal/report/where.go): comparisons joined by and, or, not, parentheses. */
export function filterOf(fields: Fields, text: string): Keep {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > longest) throw new Error(`it has ${bytes} characters, more than ${longest}`);
  const tokens = tokensOf(text);
  let at = 0;
  const is = (...words: string[]) => at < tokens.length && !tokens[at].quoted && words.includes(tokens[at].text);
  const joined = (words: string[], part: (depth: number) => Keep, join: (a: Keep, b: Keep) => Keep) => (depth: number): Keep => {
    let keep = part(depth);
    for (; is(...words); keep = join(keep, part(depth))) at++;
    return keep;
  };
  const single = (depth: number): Keep => {
    if (depth > deepest) throw new Error(`it is nested more than ${deepest} deep`);
    const first = tokens[at++];
    if (!first) throw new Error("it ends where a comparison is expected");
    const name = first.text;
    if (first.quoted) throw new Error(`${JSON.stringify(name)} is compared with nothing (as in call~${JSON.stringify(name)})`);
    if (name === "not" || name === "!") {
      const a = single(depth + 1);
      return (i) => !a(i);
    }
    if (name === "(") {
      const keep = either(depth + 1);
      if (!is(")")) throw new Error("a parenthesis is not closed");
      at++;
      return keep;
    }
    if (!is(">", ">=", "<", "<=", "=", "==", "!=", "~", "!~")) throw new Error(`${name}: what is it compared with? (as in ${name}>50ms)`);
    const [op, value] = [tokens[at++].text, tokens[at++]];
    if (!value) throw new Error(`${name}${op}: a value is missing`);
    if (!Object.hasOwn(fields, name)) throw new Error(`${JSON.stringify(name)} is nothing that requests have: there are ${Object.keys(fields).join(", ")}`);
    return compared(name, fields[name](), op, value.text);
  };
  const both = joined(["and", "&&"], single, (a, b) => (i) => a(i) && b(i));
  const either = joined(["or", "||"], both, (a, b) => (i) => a(i) || b(i));
  const keep = either(0);
  if (at < tokens.length) throw new Error(`what is ${JSON.stringify(tokens[at].text)} for? (comparisons are joined by and, or)`);
  return keep;
}

function compared(name: string, field: Field, op: string, value: string): Keep {
  if ("texts" in field) {
    const like = likeness(name, op, value);
    const kept = field.texts.map(like); // each text is looked at once, however many requests have it
    const sets = field.sets.map((set) => set.some((t) => kept[t]) !== op.startsWith("!"));
    return (i) => sets[field.set[i]];
  }
  const n = field.duration ? durationOf(name, value) : wholeOf(name, value);
  const { numbers } = field;
  switch (op) {
    case "=": case "==": return (i) => numbers[i] === n;
    case "!=": return (i) => numbers[i] !== n;
    case ">": return (i) => numbers[i] > n;
    case ">=": return (i) => numbers[i] >= n;
    case "<": return (i) => numbers[i] < n;
    case "<=": return (i) => numbers[i] <= n;
  }
  throw new Error(`${name}${op}: ${name} is a number (compare it with <, >, =)`);
}

function likeness(name: string, op: string, value: string): (text: string) => boolean {
  if (["=", "==", "!="].includes(op)) return (s) => s === value;
  if (!op.endsWith("~")) throw new Error(`${name}${op}: ${name} is a text (compare it with =, !=, ~, !~)`);
  try {
    const re = regexp(value);
    return (s) => re.test(s);
  } catch (e) {
    throw new Error(`${name}${op}${JSON.stringify(value)}: ${(e as Error).message}`);
  }
}

const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9 };

function durationOf(name: string, value: string): number {
  const m = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(ns|us|µs|ms|s|m)$/.exec(value);
  const ns = m ? Number(m[1]) * units[m[2]] : NaN;
  if (!(ns >= 0 && ns < 2 ** 62)) throw new Error(`${name}: ${JSON.stringify(value)} is no duration (as in 50ms, 200us, 1.5s)`);
  return Math.trunc(ns);
}

function wholeOf(name: string, value: string): number {
  if (!/^[+-]?\d+$/.test(value) || Math.abs(Number(value)) >= 2 ** 63) throw new Error(`${name}: ${JSON.stringify(value)} is no whole number`);
  return Number(value);
}

/** Marks what is kept of all requests: an expression is asked of each once, not whenever a region is chosen. */
export const marked = (p: Points, keep: Keep): Uint8Array => new Uint8Array(p.count).map((_, i) => (keep(i) ? 1 : 0));

/** Asks who serves the page for the requests that an expression chooses: of whatever is known of them. */
export async function asked(p: Points, text: string): Promise<Keep> {
  const got = await fetched<WebWhere>(`where.json?where=${encodeURIComponent(text)}`);
  const ids = new Set(summed(got.ids));
  return (i) => ids.has(p.id[i]);
}
