/** The one script of an exported file that runs by itself: unpacks the page's code, and runs that. */

import { unpack } from "./api/packing";

const packed = document.querySelector('[type="application/x-glassformer-code"]');
if (packed) {
  const code = new Blob([await unpack(packed)], { type: "text/javascript" });
  await import(/* @vite-ignore */ URL.createObjectURL(code));
}
