/** From which language into which; and a hint where the text or the model does not fit that. */

import type { ModelDescription } from "../../api/types";
import { Button } from "../button";
import { useApp } from "../context";
import { type Form, perceives, swapLanguages } from "../form";
import { findMisfit } from "../languages";
import type { App } from "../state";
import { Choices } from "./fields";

export function LanguageFields(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly app: App;
}) {
  const { form, app, model } = props;
  const isMedia = perceives(model);
  const say = app.words.value;
  const languages = props.model?.languages ?? [];
  const title = nameLanguages(app);
  const choices = languages.map((code) => [code, title(code)] as const);
  const choose = (side: "sourceLanguage" | "targetLanguage", code: string): void => {
    const other = side === "sourceLanguage" ? form.targetLanguage : form.sourceLanguage;
    const swaps = code === other && !isMedia;
    app.runs.change(swaps ? swapLanguages(form) : { [side]: code });
  };
  const target = (
    <Choices
      label={say.targetLanguage}
      name="target-language"
      value={form.targetLanguage}
      choices={choices}
      change={(code) => choose("targetLanguage", code)}
    />
  );
  if (isMedia) return languages.length > 0 ? target : null; // a picture is in no language
  if (languages.length === 0 || model?.one_pair)
    return (
      <p class="field only" data-field="languages">
        <span>{say.languages}</span>{" "}
        {languages.length === 0 ? say.anyLanguage : languages.map(title).join(" → ")}
      </p>
    );
  return (
    <>
      <div class="languages">
        <Choices
          label={say.sourceLanguage}
          name="source-language"
          value={form.sourceLanguage}
          choices={choices}
          change={(code) => choose("sourceLanguage", code)}
        />
        <Button name="swap" icon="swap" label={say.swap} act={() => app.runs.change(swapLanguages(form))} />
        {target}
      </div>
      <LanguageHint form={form} model={props.model} of="pair" />
    </>
  );
}

/** What does not fit, and a button that chooses what would; beside the text or beside the pair, as it concerns. */
export function LanguageHint(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly of: "text" | "pair";
}) {
  const app = useApp();
  const say = app.words.value;
  const { form } = props;
  const misfit = findMisfit(form, props.model);
  if (!misfit || (misfit.what === "untrained") !== (props.of === "pair")) return null;
  const title = nameLanguages(app);
  const way = (source: string, target: string): string => `${title(source)} → ${title(target)}`;
  const { what, better } = misfit;
  const sentence = {
    chinese: say.textIsChinese(title(form.sourceLanguage)),
    unknown: say.chineseIsUnknown,
    "not-chinese": say.textIsNotChinese,
    untrained: say.untrainedWay(way(form.sourceLanguage, form.targetLanguage)),
  }[what];
  return (
    <p class="hint language-hint" role="status" data-hint={what}>
      {sentence}
      {better && (
        <Button name="better-languages" look="small" act={() => app.runs.change(better)}>
          {say.chooseWay(way(better.sourceLanguage, better.targetLanguage))}
        </Button>
      )}
    </p>
  );
}

/** Names of languages, in that of the page. */
export function nameLanguages(app: App): (code: string) => string {
  const names = new Intl.DisplayNames([app.language.value], { type: "language" });
  return (code) => {
    try {
      return names.of(code) ?? code;
    } catch {
      return code; // no language tag
    }
  };
}
