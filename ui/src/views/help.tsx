import { useEffect, useRef } from "preact/hooks";
import { set } from "../state/url";

const keys: [string, string][] = [
  ["1 ... 7", "verdict, requests, request, threads, flame graph, call tree, calls"],
  ["c", "colour requests by cause, endpoint or process"],
  ["← → ↑ ↓", "on the chart: move what is chosen; with Shift its end"],
  ["z x", "on the chart: to what is chosen, and to all again"],
  ["w s a d", "on the chart: closer, farther, back, on; or Ctrl with the wheel, Shift with a drag"],
  ["Enter", "on the chart: open the slowest of what is chosen"],
  ["j k", "next faster, next slower request"],
  ["n p", "next, previous piece of the request"],
  ["h", "follow the arrow to who held what was waited for"],
  ["b", "an ordinary request beside it"],
  ["/", "find, or filter"],
  ["t", "dark, light, or as the system"],
  ["Esc", "close, clear"],
];

/** The keys, over the page. */
export function Help() {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => { if (!box.current!.open) box.current!.showModal(); }, []);
  return (
    <dialog ref={box} class="help" aria-labelledby="help-title" onClose={() => set({ help: "" })} onClick={(e) => e.target === box.current && set({ help: "" })}>
      <h2 id="help-title">Keys</h2>
      <dl>{keys.map(([k, what]) => <div key={k}><dt>{k.split(" ").map((x) => <kbd key={x}>{x}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
      <p>All that is chosen stands in the page’s address: send it, and a colleague sees the same.</p>
      <button type="button" onClick={() => set({ help: "" })}>Close</button>
    </dialog>
  );
}
