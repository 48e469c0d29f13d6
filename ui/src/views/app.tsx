import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { day } from "../base/format";
import { cellsOf, Details, pointsOf } from "../model/load";
import type { WebPage } from "../model/page.gen";
import { pressed, views } from "../state/keys";
import { get, set, useUrl } from "../state/url";
import { Calls } from "./calls";
import { Flames } from "./flames";
import { Help } from "./help";
import { Count, Cut, Link, Name, Seconds, Who, type Context } from "./parts";
import { Request } from "./request";
import { Requests } from "./requests";
import { Threads } from "./threads";
import { Tree } from "./tree";
import { Verdict } from "./verdict";

const titles: Record<(typeof views)[number], string> = {
  verdict: "Verdict", requests: "Requests", request: "One request", threads: "Threads", flames: "Flame graph", tree: "Call tree", calls: "Calls",
};

const rooms = { verdict: Verdict, requests: Requests, request: Request, threads: Threads, flames: Flames, tree: Tree, calls: Calls };

/** Whether the page is dark: as chosen, else as the system is. */
export function useDark(): boolean {
  const media = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [system, setSystem] = useState(media.matches);
  useEffect(() => {
    const l = () => setSystem(media.matches);
    media.addEventListener("change", l);
    return () => media.removeEventListener("change", l);
  }, []);
  const dark = get("theme") ? get("theme") === "dark" : system;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  return dark;
}

/** The page of one recording. */
export function App({ page }: { page: WebPage }) {
  useUrl();
  const dark = useDark();
  const read = useMemo(() => ({ points: pointsOf(page.latency!), cells: cellsOf(page.latency!, page.causes.length), details: new Details(page) }), [page]);
  const c: Context = { page, dark, ...read };
  useLayoutEffect(() => {
    const l = (e: KeyboardEvent) => pressed(e, c) && e.preventDefault();
    addEventListener("keydown", l);
    return () => removeEventListener("keydown", l);
  }, [page]);
  const none = page.report!.requests.count === 0;
  const view = none ? "verdict" : (views.find((v) => v === get("view")) ?? "verdict");
  const Room = rooms[view];
  return (
    <>
      <a class="skip" href="#content" onClick={(e) => { e.preventDefault(); document.getElementById("content")!.focus(); }}>Skip to the content</a>
      <Head page={page} view={view} none={none} />
      <main id="content" tabIndex={-1}><Room c={c} /></main>
      {get("help") && <Help />}
    </>
  );
}

function Head({ page, view, none }: { page: WebPage; view: string; none: boolean }) {
  return (
    <header class="head">
      <Who what={<Name text={[page.report!.recording.of, page.seen.processes.slice(0, 2).join(", ")].filter(Boolean).join(": ")} />}>
        <Cut text={page.name} /><span> · <Name text={day(page.wall_ns)} /> {page.wall_ns ? "UTC · " : ""}<Seconds v={page.report!.recording.seconds} of="recording.seconds" /> · <Count v={page.report!.requests.count} noun="request" of="requests.count" /></span>
      </Who>
      <nav aria-label="Views">{!none && views.map((v, i) => (
        <Link key={v} to={{ view: v === "verdict" ? "" : v }} aria-current={v === view ? "page" : undefined}>{titles[v]} <kbd>{i + 1}</kbd></Link>
      ))}</nav>
      <span class="tools">
        <button type="button" title="dark, light, or as the system is (t)" onClick={() => set({ theme: { "": "dark", dark: "light", light: "" }[get("theme")] ?? "" })}>theme: {get("theme") || "auto"}</button>
        <button type="button" aria-label="Keys" onClick={() => set({ help: "1" })}>?</button>
      </span>
    </header>
  );
}
