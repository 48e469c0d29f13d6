import { column, summed } from "../base/varint";
import { fetched, type Points } from "./load";
import type { WebPage, WebWhere } from "./page.gen";

/** Whether a request, by its index in the points, is kept. */
export type Keep = (i: number) => boolean;

type Value = (i: number) => number | string;

/** What all requests are known by: fields that conditions compare. */
export function fieldsOf(page: WebPage, p: Points): Record<string, Value> {
  const l = page.latency!;
  return {
    duration: (i) => p.duration[i], status: (i) => p.status[i], id: (i) => p.id[i],
    endpoint: (i) => l.endpoints[p.endpoint[i]], cause: (i) => page.causes[p.cause[i]].name, process: (i) => page.report!.processes[p.generation[i]].pid,
  };
}

/** Reads an expression as dwell show --where takes it, of the fields there are: comparisons joined by and, or, not, parentheses. */
export function filterOf(fields: Record<string, Value>, text: string): Keep {
  const tokens = text.match(/"[^"]*"|'[^']*'|>=|<=|!=|!~|==|&&|\|\||[()<>=~!]|[^\s<>=~!()&|"']+/g) ?? [];
  let at = 0;
  const either = (): Keep => {
    let keep = both();
    while (tokens[at] === "or" || tokens[at] === "||") {
      at++;
      const [a, b] = [keep, both()];
      keep = (i) => a(i) || b(i);
    }
    return keep;
  };
  const both = (): Keep => {
    let keep = single();
    while (tokens[at] === "and" || tokens[at] === "&&") {
      at++;
      const [a, b] = [keep, single()];
      keep = (i) => a(i) && b(i);
    }
    return keep;
  };
  const single = (): Keep => {
    const token = tokens[at++];
    if (token === undefined) throw new Error("it ends where a comparison is expected, as duration>50ms");
    if (token === "not" || token === "!") {
      const a = single();
      return (i) => !a(i);
    }
    if (token === "(") {
      const keep = either();
      if (tokens[at++] !== ")") throw new Error("a parenthesis is not closed");
      return keep;
    }
    const field = fields[token];
    if (!field) throw new Error(`"${token}" is nothing that is known of all requests here: there are ${Object.keys(fields).join(", ")}`);
    return compared(token, field, tokens[at++] ?? "", tokens[at++]);
  };
  const keep = either();
  if (at < tokens.length) throw new Error(`what is "${tokens[at]}" for? (comparisons are joined by and, or)`);
  return keep;
}

const unitsOf: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9 };

function compared(name: string, value: Value, op: string, given: string | undefined): Keep {
  if (given === undefined) throw new Error(`${name}: what is it compared with? (as in ${name}${name === "duration" ? ">50ms" : '="..."'})`);
  const want = given.replace(/^["'](.*)["']$/, "$1");
  if (op === "~" || op === "!~") {
    const re = new RegExp(want);
    return (i) => re.test(String(value(i))) === (op === "~");
  }
  const m = /^([0-9.]+)(ns|us|µs|ms|s|m)?$/.exec(want);
  const n = m ? Number(m[1]) * unitsOf[m[2] ?? "ns"] : NaN;
  if (name === "duration" && !m?.[2]) throw new Error(`duration: "${want}" is no duration (as in 50ms, 200us, 1.5s)`);
  switch (op) {
    case "=": case "==": return (i) => String(value(i)) === want || value(i) === n;
    case "!=": return (i) => String(value(i)) !== want && value(i) !== n;
    case ">": return (i) => (value(i) as number) > n;
    case ">=": return (i) => (value(i) as number) >= n;
    case "<": return (i) => (value(i) as number) < n;
    case "<=": return (i) => (value(i) as number) <= n;
  }
  throw new Error(`${name}: what is it compared with? (as in ${name}>50ms)`);
}

/** Marks what is kept of all requests: an expression is asked of each once, not whenever a region is chosen. */
export const marked = (p: Points, keep: Keep): Uint8Array => new Uint8Array(p.count).map((_, i) => (keep(i) ? 1 : 0));

/** Asks who serves the page for the requests that an expression chooses: of whatever is known of them. */
export async function asked(p: Points, text: string): Promise<Keep> {
  const got = await fetched<WebWhere>(`where.json?where=${encodeURIComponent(text)}`);
  const ids = new Set(got.count ? summed(got.ids, got.count) : column("", 0));
  return (i) => ids.has(p.id[i]);
}
