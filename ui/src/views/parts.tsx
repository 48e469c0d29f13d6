import type { ComponentChildren } from "preact";
import { clock, human, measured, percent, safe, seconds, thousands } from "../base/format";
import type { Frame, Ns, WebPage } from "../model/page.gen";
import type { Cells, Details, Points } from "../model/load";
import { changed, get, set } from "../state/url";

/** What every view gets: the page's model and what was read from its columns. */
export interface Context {
  page: WebPage;
  points: Points;
  cells: Cells;
  details: Details;
  dark: boolean;
}

// A figure says where it stands in what dwell prints with --json: a path, or paths joined by " + ", " - ", " / ".
// Without a document's name before it a path is one of dwell why; test/figures.mjs knows the others, and looks up each.
type Figure<T = number> = { v: T; of: string };

/** A duration. */
export const Time = ({ v, of }: Figure<Ns>) => <data value={v} data-of={of}>{human(v)}</data>;

/** A share of one. */
export const Share = ({ v, of }: Figure) => <data value={v} data-of={of}>{percent(v)}</data>;

/** A count, with what is counted. */
export const Count = ({ v, of, noun }: Figure & { noun?: string }) => <><data value={v} data-of={of}>{thousands(v)}</data>{noun && ` ${noun}${v === 1 ? "" : "s"}`}</>;

/** A number that is no count: a status, an ordinal. */
export const Plain = ({ v, of }: Figure) => <data value={v} data-of={of}>{v}</data>;

/** A request by its number. */
export const Id = ({ id }: { id: number }) => <data value={id} data-of={`show.${id}.id`}>{`#${id}`}</data>;

/** How many of something there are for each of something else. */
export const Ratio = ({ v, of }: Figure) => <data value={v} data-of={of}>{v.toFixed(2)}</data>;

/** Seconds. */
export const Seconds = ({ v, of }: Figure) => <data value={v} data-of={of}>{seconds(v)}</data>;

/** A measured quantity in its unit. */
export const Measured = ({ v, unit, of }: Figure & { unit: string }) => <data value={v} data-of={of}>{measured(v, unit)}</data>;

/** A time of the recording, counted from its start, as wall time where that is known. */
export const When = ({ c, at, of, digits }: { c: Context; at: Ns; of: string; digits?: number }) => <time data-at={at} data-of={of}>{clock(c.page.wall_ns, at, digits)}</time>;

/** What tells of the drawing, not of the recording: how wide a column is, how many rows are left out. */
export const Drawn = ({ children }: { children: ComponentChildren }) => <span data-of="drawn">{children}</span>;

/** A name as a step of a path; behind an @ it is that of a row. */
export const step = (name: string): string => encodeURIComponent(name).replaceAll(".", "%2E");

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

/** Leads to another view of what is chosen. */
export const Link = ({ to, children, ...more }: { to: Record<string, string | number>; children: ComponentChildren; class?: string; "aria-current"?: "page" }) => (
  <a href={changed(to)} {...more} onClick={(e) => { // to a tab of its own as the address says, by who wants that
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    set(to, true);
  }}>{children}</a>
);

/** Whose page it is, in two lines: what was recorded, and the facts of the recording. */
export const Who = ({ what, children }: { what: ComponentChildren; children: ComponentChildren }) => (
  <div class="who"><span class="logo" aria-hidden="true"><i /><i /><i /></span>
    <p><b>dwell</b> {what}<small>{children}</small></p></div>
);

/** A name that may be cut short where there is no room for it, and is whole in its title. */
export const Cut = ({ text }: { text: string }) => <span class="cut" title={safe(text)}><Name text={text} /></span>;

/** What is one click away; that it is open stands in the address. Plain ones, of which a table may have hundreds, are made when they are opened. */
export function Fold({ name, title, plain, children }: { name: string; title: ComponentChildren; plain?: boolean | string; children: ComponentChildren }) {
  const list = get("open").split(".").filter(Boolean);
  const open = list.includes(name);
  const turn = (to: boolean) => to !== open && set({ open: (to ? [...list, name] : list.filter((n) => n !== name)).join(".") });
  const click = (e: Event) => { // at once: a browser tells of toggling later, when the address may have been copied
    e.preventDefault();
    turn(!open);
  };
  return <details class={typeof plain === "string" ? plain : plain ? "fold" : "panel"} open={open} onToggle={(e) => turn(e.currentTarget.open)}><summary onClick={click}>{title}</summary>{(open || !plain) && children}</details>;
}

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
