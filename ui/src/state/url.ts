import { useEffect, useState } from "preact/hooks";

// The one state of the page: what stands behind the # of its address, so that the
// address shows a colleague the same.
let params = new URLSearchParams(location.hash.slice(1));
const listeners = new Set<() => void>();

addEventListener("hashchange", () => {
  params = new URLSearchParams(location.hash.slice(1));
  for (const l of listeners) l();
});

/** The value of a name, "" where it is not set. */
export const get = (name: string): string => params.get(name) ?? "";

/** Sets names, removes those that are "". A step is one that the browser's back button undoes. */
export function set(changes: Record<string, string | number>, step = false): void {
  for (const [k, v] of Object.entries(changes)) {
    if (v === "") params.delete(k);
    else params.set(k, String(v));
  }
  const url = "#" + params.toString();
  if (step) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  for (const l of listeners) l();
}

/** Draws a component anew whenever the state changes. */
export function useUrl(): void {
  const [, again] = useState(0);
  useEffect(() => {
    const l = () => again((n) => n + 1);
    listeners.add(l);
    return () => void listeners.delete(l);
  }, []);
}

addEventListener("popstate", () => {
  params = new URLSearchParams(location.hash.slice(1));
  for (const l of listeners) l();
});
