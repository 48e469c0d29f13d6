/** Colours of things that have no order: endpoints and processes. Okabe and Ito's, which differ with any colour vision. */
export const distinct = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#6a4c9c", "#7d838d"],
  dark: ["#4aa3df", "#f2793a", "#2cc295", "#e39bc3", "#d9b632", "#8accf0", "#a68be0", "#a7adb8"],
};

/** Black or white, whichever is read better on the colour. */
export function inkOn(hex: string): string {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.06 ? "#fff" : "#111";
}

/** Red, green and blue of a colour. */
export const rgb = (hex: string): [number, number, number] =>
  [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as [number, number, number];
