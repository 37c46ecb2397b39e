// What a model found in a picture, drawn over it: boxes, areas, depth.

// Colours that people tell apart who see red and green alike (Okabe and Ito, https://jfly.uni-koeln.de/color/), and a dash
// for each, so that none depends on its colour alone.
const COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"];
const DASHES = [[], [9, 4], [3, 3], [12, 4, 3, 4]];

const SMALLEST_SIDE = 640;

/** The colour and the dash of the things of one name, by its place among the names. */
export function style(place) {
  return { colour: COLOURS[place % COLOURS.length], dash: DASHES[Math.floor(place / COLOURS.length) % DASHES.length] };
}

/** The names of what was found, each once, in the order in which they come. */
export function names(found) {
  return [...new Set([...(found.objects ?? []), ...(found.segments ?? [])].map((one) => one.label))];
}

/** Whether there is something to draw. */
export const draws = (found) => Boolean(found.objects?.length || found.segments?.some((one) => one.mask) || found.depth?.map);

async function bitmap(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}

/** A mask, of which the light parts count, in a colour. */
async function mask(address, colour, width, height) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.drawImage(await bitmap(address), 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height);
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  for (let at = 0; at < pixels.data.length; at += 4) {
    const cover = pixels.data[at] * (pixels.data[at + 3] / 255);
    pixels.data.set([red, green, blue, cover * 0.5], at);
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

function label(context, text, x, y, colour, size) {
  context.font = `600 ${size}px system-ui, sans-serif`;
  const width = context.measureText(text).width + size;
  const top = Math.max(0, y - size * 1.5);
  const left = Math.max(0, Math.min(x, context.canvas.width - width));
  context.fillStyle = colour;
  context.fillRect(left, top, width, size * 1.5);
  // Black is readable on all of the colours but the dark blue.
  context.fillStyle = colour === "#0072b2" ? "#fff" : "#000";
  context.fillText(text, left + size / 2, top + size * 1.1);
}

/**
 * Draws a picture and what was found in it: `objects` with a `box` in pixels of the picture as it is shown, `segments` with
 * a `mask` and `depth` with a `map`, both the data URL of a picture of the same proportions.
 */
export async function draw(canvas, picture, found, threshold = 0) {
  const sides = [picture.naturalWidth || picture.width, picture.naturalHeight || picture.height];
  // Words need room, in a small picture too.
  const scale = Math.max(1, SMALLEST_SIDE / Math.max(...sides));
  const [width, height] = sides.map((side) => Math.round(side * scale));
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0, width, height);
  if (found.depth?.map) context.drawImage(await bitmap(found.depth.map), 0, 0, width, height);
  const known = names(found);
  const shown = (one) => (one.score ?? 1) >= threshold;
  for (const one of (found.segments ?? []).filter(shown)) {
    if (one.mask) context.drawImage(await mask(one.mask, style(known.indexOf(one.label)).colour, width, height), 0, 0);
  }
  const line = Math.max(2, Math.round(Math.max(width, height) / 300));
  const size = Math.max(11, Math.round(Math.max(width, height) / 45));
  // The likeliest are drawn last, over the others.
  for (const one of (found.objects ?? []).filter(shown).sort((a, b) => (a.score ?? 0) - (b.score ?? 0))) {
    const { colour, dash } = style(known.indexOf(one.label));
    const [x0, y0, x1, y1] = one.box.map((value) => value * scale);
    // A dark line below the coloured one shows it on light ground as well.
    context.setLineDash([]);
    [context.lineWidth, context.strokeStyle] = [line + 2, "#000a"];
    context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    context.setLineDash(dash.map((part) => part * line / 2));
    [context.lineWidth, context.strokeStyle] = [line, colour];
    context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    label(context, one.score === undefined ? one.label : `${one.label} ${Math.round(100 * one.score)} %`, x0, y0, colour, size);
  }
}

/** What is drawn, in words. */
export function describe(found) {
  const counts = new Map();
  for (const one of [...(found.objects ?? []), ...(found.segments ?? [])]) counts.set(one.label, (counts.get(one.label) ?? 0) + 1);
  const parts = [...counts].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name));
  if (found.depth) parts.push("depth");
  return parts.join(", ") || "nothing";
}
