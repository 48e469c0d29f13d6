import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { large } from "../draw/canvas";

/** How wide a box is, which is to get the ref; so wide as said until it is known, and never less than least. */
export function useWidth(until = 0, least = 0): [RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(until);
  useEffect(() => {
    if (!box.current) return;
    const o = new ResizeObserver(() => setWidth(Math.max(least, box.current?.clientWidth ?? until)));
    o.observe(box.current);
    return () => o.disconnect();
  }, []);
  return [box, width];
}

/** How wide a letter of the drawings is: of a plain font, and of one whose letters are equally wide. */
export const letters = (): { plain: number; code: number } => (large() ? { plain: 7.4, code: 7.83 } : { plain: 6.6, code: 6.93 });

/** The colours of the theme in force, by the name of their variable. */
export function themed(): (name: string) => string {
  const css = getComputedStyle(document.documentElement);
  return (name) => css.getPropertyValue(name).trim();
}
