import type { ComponentChildren } from "preact";
import { human, measured, percent, safe, thousands } from "../base/format";
import type { Frame, Ns, WebPage } from "../model/page.gen";
import type { Cells, Details, Points } from "../model/load";

/** What every view gets: the page's model and what was read from its columns. */
export interface Context {
  page: WebPage;
  points: Points;
  cells: Cells;
  details: Details;
  dark: boolean;
}

/** A duration; `of` is where it stands in `dwell why --json`. */
export const Time = ({ v, of }: { v: Ns; of?: string }) => <data value={v} data-of={of}>{human(v)}</data>;

/** A share of one. */
export const Share = ({ v, of }: { v: number; of?: string }) => <data value={v} data-of={of}>{percent(v)}</data>;

/** A count. */
export const Count = ({ v, of }: { v: number; of?: string }) => <data value={v} data-of={of}>{thousands(v)}</data>;

/** A measured quantity in its unit. */
export const Measured = ({ v, unit, of }: { v: number; unit: string; of?: string }) => <data value={v} data-of={of}>{measured(v, unit)}</data>;

/** Text of a stranger's: names of code, of threads, of hosts. */
export const Name = ({ text, code }: { text: string; code?: boolean }) =>
  code ? <code dir="ltr">{safe(text)}</code> : <bdi>{safe(text).replace(/(\d) (%|ns|us|ms|s)(?!\w)/g, "$1\u00a0$2")}</bdi>; // a number stays with its unit

export const colorOf = (c: Context, cause: string): string => {
  const found = c.page.causes.find((x) => x.name === cause);
  return found ? (c.dark ? found.dark : found.light) : c.dark ? "#7d838d" : "#8a8f98";
};

const byPhase: Record<string, string> = { queue: "pool", dns: "sleep", connect: "ipc", tls: "event-loop", send: "client", remote: "remote", "pick-up": "runnable", receive: "page-fault" };

/** The colour of a call's phase. */
export const phaseColor = (c: Context, phase: string): string => colorOf(c, byPhase[phase] ?? "unknown");

export const Swatch = ({ color }: { color: string }) => <span class="swatch" style={{ background: color }} aria-hidden="true" />;

/** A bar of parts that sum to a whole; what is too narrow to be read is in its title. */
export function Stacked({ parts, whole, scale = 1, label }: { parts: { name: string; value: number; color: string }[]; whole: number; scale?: number; label: string }) {
  return (
    <div class="stacked" role="img" aria-label={label} style={{ width: `${Math.max(0.5, scale * 100)}%` }}>
      {parts.filter((p) => p.value > 0).map((p) => (
        <span key={p.name} title={`${p.name}: ${percent(p.value / whole)}`} style={{ flexGrow: p.value / whole, background: p.color }} />
      ))}
    </div>
  );
}

export const Panel = ({ title, children, id, aside }: { title?: ComponentChildren; children: ComponentChildren; id?: string; aside?: ComponentChildren }) => (
  <section class="panel" id={id}>
    {title && <header><h2>{title}</h2>{aside}</header>}
    {children}
  </section>
);

/** A place in code, with its lines where they are known. */
export function Place({ f }: { f: Frame }) {
  return (
    <span class="place">
      <Name code text={f.name} />
      {f.file && <small> <Name text={`${f.file.split("/").pop()}${f.line ? ":" + f.line : ""}`} /></small>}
      {f.code && f.code.length > 0 && <Code f={f} />}
    </span>
  );
}

export const Code = ({ f }: { f: Frame }) => (
  <pre class="code">{f.code!.map((c) => <span key={c.line} class={c.line === f.line ? "at" : ""}>{String(c.line).padStart(5)}  {safe(c.text)}{"\n"}</span>)}</pre>
);
