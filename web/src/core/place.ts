/**
 * The address of an attention map, as in Python's `Place`: stack, kind, layer and generation step.
 *
 * In:   a place, or its text in a URL: "decoder.cross.3", "decoder.self.0@2".
 * Out:  the other of the two.
 */

export interface Place {
  readonly stack: string;
  readonly kind: "self" | "cross";
  readonly layer: number;
  readonly step: number | null; // of generation; null: the map of a whole pass
}

const ADDRESS = /^(.+)\.(self|cross)\.(\d{1,9})(?:@(\d{1,9}))?$/;

export function writePlace({ stack, kind, layer, step }: Place): string {
  return `${stack}.${kind}.${layer}${step === null ? "" : `@${step}`}`;
}

/** The place behind an address; null where it is none. */
export function readPlace(address: string): Place | null {
  const found = ADDRESS.exec(address);
  if (!found) return null;
  const [, stack, kind, layer, step] = found;
  return {
    stack: stack!,
    kind: kind === "cross" ? "cross" : "self",
    layer: Number(layer),
    step: step === undefined ? null : Number(step),
  };
}

/** The place of a map's description, and nothing else of it. */
export function placeOf({ stack, kind, layer, step }: Place): Place {
  return { stack, kind, layer, step };
}

export function samePlace(a: Place | null, b: Place | null): boolean {
  if (a === null || b === null) return a === b;
  return a.stack === b.stack && a.kind === b.kind && a.layer === b.layer && a.step === b.step;
}
