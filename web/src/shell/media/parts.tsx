/** What a model that looks or listens is given: a file that is chosen or dropped, a drawing, something said. */

import "./style.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelDescription } from "../../api/types";
import { fixed } from "../../core/formats";
import { Button } from "../button";
import { useApp } from "../context";
import type { Form } from "../form";
import { Pad } from "./pad";
import { Speech } from "./speech";
import { words } from "./words";

const KINDS = {
  picture: "image/png,image/jpeg,image/webp",
  sound: "audio/wav,audio/x-wav,audio/flac,.wav,.flac",
};

export function MediaFields({ form, model }: { readonly form: Form; readonly model: ModelDescription }) {
  return (
    <>
      {model.reads === "picture" ? <Pad model={model} file={form.file} /> : <Speech model={model} />}
      <FileField form={form} reads={model.reads === "picture" ? "picture" : "sound"} />
    </>
  );
}

function FileField({ form, reads }: { readonly form: Form; readonly reads: "picture" | "sound" }) {
  const app = useApp();
  const say = words(app.language.value);
  const input = useRef<HTMLInputElement>(null);
  const [trouble, setTrouble] = useState("");
  const most = app.about.value?.limits.input_bytes ?? Number.POSITIVE_INFINITY;
  const sized = (bytes: number): string =>
    `${fixed(bytes / (bytes < 1e5 ? 1e3 : 1e6), 1)} ${bytes < 1e5 ? "kB" : "MB"}`;

  const take = (file: File | undefined): void => {
    if (!file) return;
    const large = file.size > most;
    setTrouble(large ? say.tooLarge(sized(file.size), sized(most)) : "");
    if (!large) app.runs.change({ file });
  };
  const { file } = form;
  return (
    <div class="field" data-part="media-file">
      <div class="row">
        <Button name="choose-media" icon="upload" act={() => input.current?.click()}>
          {reads === "picture" ? say.choosePicture : say.chooseSound}
        </Button>
        <input
          ref={input}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-hidden="true"
          accept={KINDS[reads]}
          data-field="media"
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = ""; // the same one may be chosen again
          }}
        />
      </div>
      <p class="hint">{reads === "picture" ? say.dropPicture : say.dropSound}</p>
      {trouble && (
        <p class="bad-text" role="alert">
          {trouble}
        </p>
      )}
      {file && (
        <div class="chosen-file" data-part="chosen">
          {reads === "picture" ? <Preview file={file} /> : <PlayButton file={file} />}
          <span>{say.chosen(file.name, sized(file.size))}</span>
        </div>
      )}
      {!file && form.mediaOf && <p class="hint">{say.fromRecording}</p>}
    </div>
  );
}

function Preview({ file }: { readonly file: File }) {
  const say = words(useApp().language.value);
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url ? <img class="preview" src={url} alt={say.preview(file.name)} /> : null;
}

function PlayButton({ file }: { readonly file: File }) {
  const app = useApp();
  const say = words(app.language.value);
  const playing = useRef<AudioContext | null>(null);
  const stop = (): void => {
    void playing.current?.close();
    playing.current = null;
  };
  useEffect(() => stop, [file]);
  const play = async (): Promise<void> => {
    stop();
    const context = new AudioContext();
    playing.current = context;
    try {
      const buffer = await context.decodeAudioData(await file.arrayBuffer());
      if (playing.current !== context) return; // played again, or left meanwhile
      const source = new AudioBufferSourceNode(context, { buffer });
      source.connect(context.destination);
      source.onended = () => {
        if (playing.current === context) stop();
      };
      source.start();
    } catch {
      if (playing.current !== context) return;
      stop();
      app.say(say.unplayable);
    }
  };
  return (
    <Button name="play-media" icon="play" look="small" act={() => void play()}>
      {say.play}
    </Button>
  );
}
