/**
 * Heat maps in WebGL2: bytes become a texture once; zooming, panning and recolouring only change small tables.
 *
 * In:   a scene.
 * Out:  its pixels on a canvas. All arithmetic in the shader is on whole numbers (see heat.ts).
 */

import {
  boxOf,
  FLAG,
  fixedRoot,
  HATCH,
  hatchPhase,
  indexScene,
  NOTHING,
  type Renderer,
  type Scene,
  type WeightTile,
} from "../core/heat";

const BUDGET = 64 << 20; // bytes of tiles that stay on the GPU

// One triangle that covers the clip rectangle.
const VERTEX = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

// cells: bytes of the tile. rows: query and flag of each device pixel, and the fixed root of its top. columns: key and
// flag. table: 256 colours. tile: level, first row, first column, fixed root of its maximum. limits: queries from, to,
// keys from, to. zero: the byte of zero, and its place in the table. rest: height, phase of the hatch, whether causal, how many keys beyond the query are seen.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D cells, rows, columns;
uniform sampler2D table;
uniform ivec4 tile, limits, rest;
uniform int zero;
uniform vec3 hatchGround, hatchLine;
out vec4 colour;
void main() {
  int x = int(gl_FragCoord.x);
  int y = rest.x - 1 - int(gl_FragCoord.y);
  uvec2 row = texelFetch(rows, ivec2(y & 4095, y >> 12), 0).rg;
  uint column = texelFetch(columns, ivec2(x & 4095, x >> 12), 0).r;
  if (row.r == ${NOTHING}u || column == ${NOTHING}u) discard;
  int query = int(row.r & ~${FLAG}u);
  int key = int(column & ~${FLAG}u);
  if (query < limits.x || query >= limits.y || key < limits.z || key >= limits.w) discard;
  int down = query >> tile.x;
  int right = key >> tile.x;
  int byte = int(texelFetch(cells, ivec2(right - tile.z, down - tile.y), 0).r);
  int last = (query | ((1 << tile.x) - 1)) + rest.w;
  bool masked = byte == zero && ((row.r & ${FLAG}u) != 0u || (rest.z == 1 && (right << tile.x) > last));
  if (masked) {
    colour = vec4((x + y + rest.y) % ${HATCH} == 0 ? hatchLine : hatchGround, 1.0);
  } else if ((column & ${FLAG}u) != 0u) {
    colour = vec4((x + ${HATCH} - y % ${HATCH} + rest.y) % ${HATCH} == 0 ? hatchLine : hatchGround, 1.0);
  } else {
    int top = int(row.g);
    int step = byte - zero;
    int far = step == 0 ? 0 : clamp((2 * abs(step) * tile.w + top) / (2 * top), 1, 255 - zero);
    int place = zero + sign(step) * far;
    colour = vec4(texelFetch(table, ivec2(place, 0), 0).rgb, 1.0);
  }
}`;

/** Null where the browser has no WebGL2, or, unless `software`, emulates it on the processor. */
export function createWebglRenderer(
  canvas: HTMLCanvasElement,
  software: boolean,
  lost: () => void,
): Renderer | null {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    depth: false,
    preserveDrawingBuffer: true, // the picture is read for saving
    powerPreference: "low-power",
  });
  if (gl === null || (!software && isEmulated(gl))) return null;
  const program = link(gl);
  if (program === null) return null;
  return new WebglRenderer(canvas, gl, program, lost);
}

/** Whether shaders run on the processor: then the canvas renderer is several times faster (benchmarks/results.md). */
function isEmulated(gl: WebGL2RenderingContext): boolean {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(name));
}

class WebglRenderer implements Renderer {
  readonly kind = "webgl";
  private readonly textures = new Map<WeightTile, WebGLTexture>();
  private readonly rows: WebGLTexture;
  private readonly columns: WebGLTexture;
  private readonly table: WebGLTexture;
  private readonly places = new Map<string, WebGLUniformLocation | null>();
  private bytes = 0; // of the tiles on the GPU
  private tableNow: Uint8Array | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    private readonly program: WebGLProgram,
    private readonly lost: () => void,
  ) {
    canvas.addEventListener("webglcontextlost", this.onLost);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.rows = this.texture();
    this.columns = this.texture();
    this.table = this.texture();
  }

  private readonly onLost = (event: Event): void => {
    event.preventDefault();
    this.lost();
  };

  draw(scene: Scene): void {
    const { gl, canvas } = this;
    if (canvas.width !== scene.width) canvas.width = scene.width;
    if (canvas.height !== scene.height) canvas.height = scene.height;
    gl.disable(gl.SCISSOR_TEST);
    gl.viewport(0, 0, scene.width, scene.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (scene.placements.length === 0) return;
    gl.useProgram(this.program);
    this.fill(scene);
    gl.enable(gl.SCISSOR_TEST);
    for (const placement of scene.placements) {
      const [left, top, right, bottom] = boxOf(scene, placement);
      if (left >= right || top >= bottom) continue;
      const { tile } = placement;
      gl.scissor(left, scene.height - bottom, right - left, bottom - top);
      this.bind(0, this.cells(tile));
      gl.uniform4i(
        this.place("tile"),
        tile.level,
        tile.row,
        tile.column,
        fixedRoot(tile.maximum / scene.unit),
      );
      gl.uniform1i(this.place("zero"), tile.zero);
      gl.uniform4i(this.place("limits"), ...placement.queries, ...placement.keys);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    this.forget();
  }

  dispose(): void {
    this.canvas.removeEventListener("webglcontextlost", this.onLost);
    for (const texture of [...this.textures.values(), this.rows, this.columns, this.table])
      this.gl.deleteTexture(texture);
    this.textures.clear();
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Everything that all placements of a scene share. */
  private fill(scene: Scene): void {
    const { gl } = this;
    const { rows, columns, tops } = indexScene(scene);
    const pairs = new Uint32Array(2 * rows.length);
    for (let y = 0; y < rows.length; y++) {
      pairs[2 * y] = rows[y]!;
      pairs[2 * y + 1] = tops[y]!;
    }
    this.bind(1, this.rows);
    strip(gl, gl.RG32UI, gl.RG_INTEGER, pairs, rows.length, 2);
    this.bind(2, this.columns);
    strip(gl, gl.R32UI, gl.RED_INTEGER, columns, columns.length, 1);
    this.bind(3, this.table);
    if (this.tableNow !== scene.table) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, scene.table);
      this.tableNow = scene.table;
    }
    for (const [unit, name] of ["cells", "rows", "columns", "table"].entries())
      gl.uniform1i(this.place(name), unit);
    const causal = scene.mask.causal;
    gl.uniform4i(this.place("rest"), scene.height, hatchPhase(scene), causal === null ? 0 : 1, causal ?? 0);
    const [ground, line] = scene.hatch;
    gl.uniform3f(this.place("hatchGround"), ground[0] / 255, ground[1] / 255, ground[2] / 255);
    gl.uniform3f(this.place("hatchLine"), line[0] / 255, line[1] / 255, line[2] / 255);
  }

  private cells(tile: WeightTile): WebGLTexture {
    const { gl } = this;
    let texture = this.textures.get(tile);
    if (texture === undefined) {
      texture = this.texture();
      this.bind(0, texture);
      gl.texImage2D(
        gl.TEXTURE_2D,
        0,
        gl.R8UI,
        tile.width,
        tile.height,
        0,
        gl.RED_INTEGER,
        gl.UNSIGNED_BYTE,
        tile.bytes,
      );
      this.bytes += tile.bytes.byteLength;
    } else this.textures.delete(tile); // set again below: marked as most recently used
    this.textures.set(tile, texture);
    return texture;
  }

  /** Keep to the budget: the least recently used tiles go first. */
  private forget(): void {
    for (const [tile, texture] of this.textures) {
      if (this.bytes <= BUDGET || this.textures.size === 1) return;
      this.gl.deleteTexture(texture);
      this.textures.delete(tile);
      this.bytes -= tile.bytes.byteLength;
    }
  }

  private texture(): WebGLTexture {
    const { gl } = this;
    const texture = gl.createTexture();
    this.bind(0, texture); // unit 0 is bound anew for every tile: nothing else loses its place
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
      gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const way of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, way, gl.NEAREST);
    return texture;
  }

  private bind(unit: number, texture: WebGLTexture): void {
    this.gl.activeTexture(this.gl.TEXTURE0 + unit);
    this.gl.bindTexture(this.gl.TEXTURE_2D, texture);
  }

  private place(name: string): WebGLUniformLocation | null {
    if (!this.places.has(name)) this.places.set(name, this.gl.getUniformLocation(this.program, name));
    return this.places.get(name) ?? null;
  }
}

/** A long row of numbers as a texture, folded at 4096: no screen is wider than a texture may be high. */
function strip(
  gl: WebGL2RenderingContext,
  inside: number,
  format: number,
  numbers: Uint32Array,
  length: number,
  parts: number,
): void {
  const width = Math.min(4096, length);
  const height = Math.ceil(length / 4096);
  let data = numbers;
  if (height > 1) {
    data = new Uint32Array(parts * width * height);
    data.set(numbers);
  }
  gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, gl.UNSIGNED_INT, data);
}

function link(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [kind, code] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) return null;
    gl.shaderSource(shader, code);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}
