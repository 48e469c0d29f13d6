/** Whether letters are as large as a projector wants them; the style sheet has the same width. */
export const large = (): boolean => innerWidth >= 1800;

/** A canvas made as fine as the screen is, and emptied: what draws on it, and how large it is in CSS pixels. */
export function prepared(canvas: HTMLCanvasElement): { g: CanvasRenderingContext2D; ratio: number; width: number; height: number } {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const g = canvas.getContext("2d")!;
  g.scale(ratio, ratio);
  g.font = `${large() ? 12.5 : 11}px system-ui, sans-serif`;
  return { g, ratio, width, height };
}
