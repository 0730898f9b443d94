/** A pad to draw on with a mouse, a finger, a pen or the keyboard; what is drawn is looked at after each stroke. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelDescription } from "../../api/types";
import { Button } from "../button";
import { useApp } from "../context";
import { Check } from "../panels/fields";
import { exampleOf } from "./drawings";
import { drawStrokes, encodeStrokes, type Point, type Stroke } from "./strokes";
import { words } from "./words";

const SHARP = 2; // pixels of the canvas for each of the page
const SIZE = 196;
const [BLACK, WHITE] = ["#000000", "#ffffff"];
const STEP = 0.04; // of the side, that an arrow key moves

const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

export function Pad({ model, file }: { readonly model: ModelDescription; readonly file: File | null }) {
  const app = useApp();
  const say = words(app.language.value);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [dark, setDark] = useState(model.drawing?.dark ?? false);
  const [ink, setInk] = useState(dark ? WHITE : BLACK);
  const [filled, setFilled] = useState(false);
  const strokeOf = (points: readonly Point[]): Stroke =>
    model.drawing ? { points } : { points, ink, filled };
  const example = useRef(0); // the next one
  const drawing = useRef<Point[] | null>(null); // the stroke that is being drawn
  const pen = useRef<Point | null>(null); // of the keyboard
  const [said, tell] = useState("");
  const latest = useRef<readonly Stroke[]>([]); // what is to be looked at
  const own = useRef<File | null>(null); // the drawing, as the form has it

  const paint = (): void => {
    const element = canvas.current;
    if (!element) return;
    const now = drawing.current ? [...strokes, strokeOf(drawing.current)] : strokes;
    drawStrokes(element, now, dark);
    if (pen.current && document.activeElement === element) markPen(element, pen.current);
  };
  useEffect(paint, [strokes, dark]);
  useEffect(
    () => () => {
      latest.current = []; // what is being encoded is for a model that was left
    },
    [],
  );

  useEffect(() => {
    if (!file || file === own.current) return;
    latest.current = []; // another picture was chosen
    setStrokes([]);
  }, [file]);

  const show = (next: readonly Stroke[], inDark = dark): void => {
    setStrokes(next);
    latest.current = next;
    if (next.length === 0) {
      app.runs.change({ file: null });
      return;
    }
    const look = { dark: inDark, fill: model.drawing?.fill ?? null };
    void encodeStrokes(next, look).then((png) => {
      if (!png || latest.current !== next) return;
      own.current = new File([png], say.drawingName, { type: png.type });
      void app.runs.glance(own.current);
    });
  };
  const end = (): void => {
    const stroke = drawing.current;
    drawing.current = null;
    if (stroke) show([...strokes, strokeOf(stroke)]);
  };
  const placeOf = (event: PointerEvent): Point => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const within = (value: number): number => Math.min(1, Math.max(0, value));
    return [within((event.clientX - box.left) / box.width), within((event.clientY - box.top) / box.height)];
  };
  const press = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    const acts = { " ": true, Backspace: true, Delete: true }[event.key] ?? false;
    if ((!move && !acts) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    pen.current ??= [0.5, 0.5];
    const [x, y] = pen.current;
    if (move) {
      const within = (value: number): number => Math.min(1, Math.max(0, value));
      pen.current = [within(x + move[0]), within(y + move[1])];
      drawing.current?.push(pen.current);
    } else if (event.key !== " ") {
      const kept = drawing.current ? strokes : strokes.slice(0, -1); // the one that is being drawn goes first
      drawing.current = null;
      show(event.key === "Delete" ? [] : kept);
    } else if (drawing.current) end();
    else drawing.current = [pen.current];
    const [left, top] = pen.current.map((value) => Math.round(100 * value)) as [number, number];
    tell(say.penAt(left, top, drawing.current !== null));
    paint();
  };
  return (
    <div class="field pad-field">
      <span>{say.draw}</span>
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: arrow keys draw, and screen readers leave them to applications only */}
      <canvas
        ref={canvas}
        class="pad"
        width={SIZE * SHARP}
        height={SIZE * SHARP}
        tabIndex={0}
        role="application"
        aria-label={`${say.pad}: ${say.strokes(strokes.length)}. ${say.padKeys}`}
        title={say.padKeys}
        data-part="pad"
        onPointerDown={(event) => {
          if (event.button !== 0 || !event.isPrimary) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drawing.current = [placeOf(event)];
          paint();
        }}
        onPointerMove={(event) => {
          if (!drawing.current || !event.isPrimary) return;
          drawing.current.push(placeOf(event));
          paint();
        }}
        onPointerUp={end}
        onPointerCancel={end}
        onKeyDown={press}
        onFocus={paint}
        onBlur={() => {
          if (pen.current) end();
          paint();
        }}
      />
      <div class="row">
        <Button
          name="undo-stroke"
          look="small"
          disabled={strokes.length === 0}
          act={() => show(strokes.slice(0, -1))}
        >
          {say.undo}
        </Button>
        <Button name="clear-pad" look="small" disabled={strokes.length === 0} act={() => show([])}>
          {say.clear}
        </Button>
        <Button
          name="draw-example"
          look="small"
          act={() => {
            show(exampleOf(example.current, model.drawing !== null));
            example.current += 1;
          }}
        >
          {say.example}
        </Button>
        <Check
          name="dark-pad"
          checked={dark}
          change={(on) => {
            setDark(on);
            setInk(on ? WHITE : BLACK); // seen on the other ground
            if (strokes.length > 0) show(strokes, on);
          }}
        >
          {say.dark}
        </Check>
      </div>
      {!model.drawing && (
        <div class="row">
          <label class="row">
            {say.ink}
            <input
              type="color"
              value={ink}
              data-field="ink"
              onInput={(event) => setInk(event.currentTarget.value)}
            />
          </label>
          <Check name="filled-pad" checked={filled} change={setFilled}>
            {say.filled}
          </Check>
        </div>
      )}
      <p class="hint">{say.drawHint}</p>
      <p class="unseen" role="status">
        {said}
      </p>
    </div>
  );
}

/** Where the pen of the keyboard is. */
function markPen(canvas: HTMLCanvasElement, [x, y]: Point): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.lineWidth = SHARP;
  context.strokeStyle = "grey";
  context.beginPath();
  context.arc(x * canvas.width, y * canvas.height, 5 * SHARP, 0, 2 * Math.PI);
  context.stroke();
}
