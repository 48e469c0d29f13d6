import { column, lists } from "../base/column";
import type { Points } from "./load";
import type { WebPage, WebTexts } from "./page.gen";

/** What is known of each request: a number, in nanoseconds where it is a duration, or texts: a set of them, of the different sets that there are. */
export type Field = { numbers: ArrayLike<number>; duration: boolean } | { texts: string[]; sets: number[][]; set: ArrayLike<number> };

/** What expressions compare, by name; each is read when it is first asked for. */
export type Fields = Record<string, () => Field>;

/** What a page knows of all requests: all that dwell show --where does, but on a served page, which asks for the rest. */
export function fieldsOf(page: WebPage, p: Points): Fields {
  const { endpoints, known: k } = page.latency!;
  const pids = page.report!.processes.map((x) => x.pid);
  const causes = page.causes.map((c) => c.name);
  const all: Fields = {
    duration: number(() => p.duration, true), status: number(() => p.status), id: number(() => p.id), process: number(() => Array.from(p.generation, (g) => pids[g])),
    ...(k && { calls: number(() => column(k.made).map((n) => Math.floor(n / 2))), new: number(() => column(k.made).map((n) => n % 2)) }),
    endpoint: single(endpoints, p.endpoint), cause: single(causes, p.cause),
  };
  if (!k) return all;
  const sets = once(() => ({ sets: lists(k.call_sets), set: column(k.call_set) }));
  Object.assign(all, {
    client: once(() => textsOf(k.clients)), thread: once(() => textsOf(k.threads)),
    call: once(() => ({ texts: k.calls.map((c) => `${c.operation} at ${c.peer}`.replace(/^ at /, "")), ...sets() })),
    peer: once(() => ({ texts: k.calls.map((c) => c.peer), ...sets() })),
  });
  const took = once(() => ({ sets: lists(k.sets), set: column(k.set), took: column(k.took) }));
  for (const name of [...page.phases.map((x) => x.name), ...causes]) {
    all[name] ??= number(() => spent(took(), p.duration, k.spent.map((s) => (causes.includes(name) ? causes[s.cause] : page.phases[s.phase]?.name) === name)), true);
  }
  return all;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const number = (numbers: () => ArrayLike<number>, duration = false) => once(() => ({ numbers: numbers(), duration }));
const single = (texts: string[], set: ArrayLike<number>) => () => ({ texts, sets: texts.map((_, i) => [i]), set });

// The texts with their numbers, in sets of one; the first set is that of none.
function textsOf(t: WebTexts): Field {
  const [prefix, last] = [column(t.text), column(t.number)];
  const texts = Array.from(prefix, (at, i) => t.prefix[at] + (last[i] ? last[i] - 1 : ""));
  let next = 0;
  return { texts, sets: [[], ...texts.map((_, i) => [i])], set: column(t.request).map((n) => (n === 1 ? ++next : Math.max(0, n - 1))) };
}

// How long those pairs of a phase and a cause took that are meant. The first of a request's took what the others leave.
function spent({ sets, set, took }: { sets: number[][]; set: ArrayLike<number>; took: ArrayLike<number> }, duration: ArrayLike<number>, meant: boolean[]): Float64Array {
  let at = 0;
  return new Float64Array(duration.length).map((_, i) => {
    const pairs = sets[set[i]];
    let [sum, rest] = [0, duration[i]];
    for (let n = 1; n < pairs.length; n++) {
      const ns = took[at++];
      rest -= ns;
      if (meant[pairs[n]]) sum += ns;
    }
    return meant[pairs[0]] ? sum + rest : sum;
  });
}
