import { useMemo } from "preact/hooks";
import { day, seconds, spent } from "../base/format";
import { cellsOf, Details, pointsOf, rowOf, type Region } from "../model/load";
import type { DiffEndpoint, DiffFinding, DiffLatency, DiffMeasure, WebDiff, WebPage } from "../model/page.gen";
import { get, set, useUrl } from "../state/url";
import { useDark } from "./app";
import { Chart } from "./chart";
import { Apart } from "./diffflame";
import { colorOf, Count, Cut, Measured, Name, Panel, Stacked, Time, Who, type Context } from "./parts";

/** The page of two recordings: before and after, and what was predicted beside what came. */
export function DiffApp({ page }: { page: WebDiff }) {
  useUrl();
  const dark = useDark();
  const [a, b] = [page.a!, page.b!];
  const [ca, cb] = useMemo(() => [contextOf(a), contextOf(b)], [page]).map((c) => ({ ...c, dark }));
  const union = wholeOfBoth(a, b);
  const d = page.diff!;
  return (
    <>
      <header class="head"><Who what="two recordings"><Side name="A" of={a} /><span> · </span><Side name="B" of={b} /></Who>
        <span class="tools"><button type="button" onClick={() => set({ theme: { "": "dark", dark: "light", light: "" }[get("theme")] ?? "" })}>theme: {get("theme") || "auto"}</button></span></header>
      <main id="content" tabIndex={-1}>
        <section class="answer"><h1><Headline list={d.endpoints} findings={d.findings} /></h1></section>
        <Panel title="Latency, and what was predicted"><Endpoints list={d.endpoints} /></Panel>
        {a.latency!.count > 0 && b.latency!.count > 0 && (
          <div class="split half">
            <Panel title={<>A <small><Name text={a.name} /></small></>}><Chart c={ca} height={280} still={union(a)} /></Panel>
            <Panel title={<>B <small><Name text={b.name} /></small></>}><Chart c={cb} height={280} still={union(b)} /></Panel>
          </div>
        )}
        <div class="split">
          <Panel title="Findings"><Findings list={d.findings} /></Panel>
          <Beside a={ca} b={cb} />
        </div>
        <Apart page={page} />
        <Panel title="What A did not exercise that B did"><Measures list={d.unexercised} at="unexercised" none="Nothing of what is compared." /></Panel>
        <Panel title="Measures"><Measures list={d.measures} at="measures" none="None." /></Panel>
      </main>
    </>
  );
}

const Side = ({ name, of }: { name: string; of: WebPage }) => <><span>{name} </span><Cut text={of.name} /><span>, <Name text={`${day(of.wall_ns)} ${seconds(of.span_ns / 1e9)}`} /></span></>;

function contextOf(page: WebPage): Omit<Context, "dark"> {
  return { page, points: pointsOf(page.latency!), cells: cellsOf(page.latency!, page.causes.length), details: new Details(page) };
}

function wholeOfBoth(a: WebPage, b: WebPage): (of: WebPage) => Region {
  const least = Math.min(...[a, b].map((p) => p.latency!.least_ns || Infinity));
  const most = Math.max(a.latency!.most_ns, b.latency!.most_ns);
  return (of) => ({ x0: 0, x1: of.latency!.cells.columns - 1, y0: rowOf(least) - 1, y1: rowOf(most) + 1 });
}

function Headline({ list, findings }: { list: DiffEndpoint[]; findings: DiffFinding[] }) {
  const changed = (how: string) => [...new Set(findings.filter((f) => f.change === how).map((f) => f.id))].join(", ");
  const [gone, came] = [changed("gone"), changed("new")];
  const i = list.findIndex((e) => e.a && e.b);
  if (i < 0 && !gone && !came) return <>Two recordings without requests in common</>;
  const became = (q: "p50" | "p99") => <>{q} <Time v={list[i].a![`${q}_ns`]} of={`endpoints.${i}.a.${q}_ns`} /> became <Time v={list[i].b![`${q}_ns`]} of={`endpoints.${i}.b.${q}_ns`} /></>;
  return <>{i >= 0 && <><Name text={list[i].name} />: {became("p50")}, {became("p99")}</>}{gone && <>; gone: {gone}</>}{came && <>; new: {came}</>}</>;
}

function Endpoints({ list }: { list: DiffEndpoint[] }) {
  const whole = Math.max(1, ...list.flatMap((e) => [e.a?.p99_ns ?? 0, e.b?.p99_ns ?? 0]));
  return (
    <table class="diffs"><thead><tr><th scope="col">endpoint</th><th scope="col" /><th scope="col" class="num">A</th><th scope="col" class="num">B</th><th scope="col">A over B</th>
      <th scope="col" class="num">saved</th><th scope="col" class="num">predicted</th><th scope="col" class="num">noise</th></tr></thead>
      <tbody>{list.flatMap((e, i) => [
        <Quantile key={e.name + 50} e={e} i={i} q="p50" whole={whole} />, <Quantile key={e.name + 99} e={e} i={i} q="p99" whole={whole} />,
      ])}</tbody></table>
  );
}

function Quantile({ e, i, q, whole }: { e: DiffEndpoint; i: number; q: "p50" | "p99"; whole: number }) {
  const of = (l: DiffLatency | null) => l?.[`${q}_ns`] ?? 0;
  const [a, b] = [of(e.a), of(e.b)];
  const path = `endpoints.${i}`;
  const cell = (l: DiffLatency | null, side: string) => (l ? <Time v={of(l)} of={`endpoints.${i}.${side}.${q}_ns`} /> : "none");
  return (
    <tr>
      <th scope="row">{q === "p50" && <><Name text={e.name} /> <small>{e.a ? <Count v={e.a.count} of={`endpoints.${i}.a.count`} /> : "none"} and {e.b ? <Count v={e.b.count} of={`endpoints.${i}.b.count`} /> : "none"} requests</small></>}</th>
      <td>{q}</td><td class="num">{cell(e.a, "a")}</td><td class="num"><b>{cell(e.b, "b")}</b></td>
      <td class="bars"><span class="bar a" style={{ width: `${(a / whole) * 100}%` }} /><span class="bar b" style={{ width: `${(b / whole) * 100}%` }} /></td>
      <td class="num">{e.a && e.b && (a >= b ? <b class="good"><Time v={a - b} of={`${path}.a.${q}_ns - ${path}.b.${q}_ns`} /></b> : <b class="bad">-<Time v={b - a} of={`${path}.b.${q}_ns - ${path}.a.${q}_ns`} /></b>)}</td>
      <td class="num">{e.predicted && <>{e.predicted.lower_bound ? "≥ " : ""}<Time v={e.predicted[`${q}_saving_ns`]} of={`endpoints.${i}.predicted.${q}_saving_ns`} /></>}</td>
      <td class="num dim"><Time v={e[`${q}_noise_ns`]} of={`endpoints.${i}.${q}_noise_ns`} /></td>
    </tr>
  );
}

function Findings({ list }: { list: DiffFinding[] }) {
  if (list.length === 0) return <p>None on either side.</p>;
  return (
    <ul class="list">{list.map((f, i) => (
      <li key={i}><span class={`change ${f.change}`}>{f.change}</span> <b>{f.id}</b> <Name text={f.endpoint} /> <small>at <Name text={f.place_a || f.place_b || ""} /></small>
        {f.impact_a && <small> (saving in A: p50 <Time v={f.impact_a.p50_saving_ns} of={`findings.${i}.impact_a.p50_saving_ns`} />, p99 <Time v={f.impact_a.p99_saving_ns} of={`findings.${i}.impact_a.p99_saving_ns`} />)</small>}
        {f.missing && <p class="dim"><Name text={f.missing} /></p>}</li>
    ))}</ul>
  );
}

// Ordinary and slow requests of both sides, on one scale.
function Beside({ a, b }: { a: Context; b: Context }) {
  const names = a.page.report!.endpoints.map((e) => e.name).filter((n) => b.page.report!.endpoints.some((e) => e.name === n));
  const name = names.includes(get("endpoint")) ? get("endpoint") : names[0];
  if (!name) return <Panel title="Where the time goes"><p>No endpoint on both sides.</p></Panel>;
  const sides = ([["A", a], ["B", b]] as const).flatMap(([label, c]) => {
    const at = c.page.report!.endpoints.findIndex((e) => e.name === name);
    const e = c.page.report!.endpoints[at];
    const path = `${label}.endpoints.${at}`;
    return [{ label: `${label} ordinary`, c, e, mean: e.ordinary_mean_ns, path: `${path}.ordinary_mean_ns`, of: "p50_share" as const }, { label: `${label} slow`, c, e, mean: e.slow_mean_ns, path: `${path}.slow_mean_ns`, of: "p99_share" as const }];
  }).sort((x, y) => (x.of < y.of ? -1 : x.of > y.of ? 1 : 0));
  const whole = Math.max(...sides.map((s) => s.mean));
  return (
    <Panel title="Where the time goes" aside={<span class="where"><Name text={name} /></span>}>
      <div class="pair">{sides.map((s) => (
        <div key={s.label}><b>{s.label}</b> <Time v={s.mean} of={s.path} />
          <Stacked label={s.label} whole={1} scale={s.mean / whole} parts={[...s.e.causes.map((x) => ({ name: spent(x.phase, x.cause), value: x[s.of], color: colorOf(s.c, x.cause) })),
            { name: "unaccounted", value: s.e.unaccounted[s.of], color: colorOf(s.c, "unaccounted") }]} /></div>
      ))}</div>
      <ul class="legend flat">{a.page.causes.filter((x) => sides.some((s) => s.e.causes.some((y) => y.cause === x.name && y[s.of] > 0.004))).map((x) => <li key={x.name}><span class="swatch" style={{ background: colorOf(a, x.name) }} />{x.name}</li>)}</ul>
    </Panel>
  );
}

function Measures({ list, at, none }: { list: DiffMeasure[]; at: string; none: string }) {
  if (list.length === 0) return <p>{none}</p>;
  const cell = (v: number | null, unit: string, side: string, i: number) => (v === null ? "-" : <Measured v={v} unit={unit} of={`${at}.${i}.${side}`} />);
  return (
    <table class="measures"><thead><tr><th scope="col">group</th><th scope="col">measure</th><th scope="col" class="num">A</th><th scope="col" class="num">B</th></tr></thead>
      <tbody>{list.map((m, i) => <tr key={i}><td class="dim">{m.group}</td><th scope="row"><Name text={m.what} /></th><td class="num">{cell(m.a, m.unit, "a", i)}</td><td class="num">{cell(m.b, m.unit, "b", i)}</td></tr>)}</tbody></table>
  );
}
