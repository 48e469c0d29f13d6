import { useLayoutEffect, useState } from "preact/hooks";

// The one state of the page: what stands behind the # of its address, so that the
// address shows a colleague the same.
let params = new URLSearchParams(location.hash.slice(1));
const listeners = new Set<() => void>();
let later = 0;

for (const event of ["hashchange", "popstate"]) addEventListener(event, () => {
  clearTimeout(later);
  params = new URLSearchParams(location.hash.slice(1));
  for (const l of listeners) l();
});

// A browser takes so many changes of the address in some seconds, and drops or refuses more
// (a key that is held down): what is left out is written when it takes some again.
function write(step: boolean): void {
  clearTimeout(later);
  const hash = params.toString();
  try {
    if (step) history.pushState(null, "", "#" + hash);
    else history.replaceState(null, "", "#" + hash);
  } catch { /* refused, which the address tells as well */ }
  if (location.hash.slice(1) !== hash) later = window.setTimeout(write, 500, false);
}

/** The value of a name, "" where it is not set. */
export const get = (name: string): string => params.get(name) ?? "";

/** The address of what is shown, with some names changed: for who opens it elsewhere. */
export function changed(changes: Record<string, string | number>): string {
  const to = new URLSearchParams(params);
  put(to, changes);
  return "#" + to.toString();
}

function put(into: URLSearchParams, changes: Record<string, string | number>): void {
  for (const [k, v] of Object.entries(changes)) {
    if (v === "") into.delete(k);
    else into.set(k, String(v));
  }
}

/** Sets names, removes those that are "". A step is one that the browser's back button undoes. */
export function set(changes: Record<string, string | number>, step = false): void {
  put(params, changes);
  write(step);
  for (const l of listeners) l();
}

/** Draws a component anew whenever the state changes. */
export function useUrl(): void {
  const [, again] = useState(0);
  useLayoutEffect(() => {
    const l = () => again((n) => n + 1);
    listeners.add(l);
    return () => void listeners.delete(l);
  }, []);
}
