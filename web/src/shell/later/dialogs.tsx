/** Dialogs: the data table behind the picture, and the help. */

import { useState } from "preact/hooks";
import { aligned, count, exact } from "../../core/formats";
import { csv, fileName, markTable, saveText, tabSeparated } from "../../core/saving";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { editMark } from "../edited";
import { shortcutList } from "../keyboard";
import { Check } from "../panels/fields";
import { Dialog } from "./dialog";
import { later } from "./later_words";

const SHOWN_ROWS = 500;

export function TableDialog(props: { readonly close: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const mounted = app.mounted.value;
  const { value: table, error } = useAnswer(mounted, mounted && "table", async () =>
    markTable(await mounted!.table(), editMark(app)),
  );
  const formats = table?.columns.map((_, place) =>
    aligned(table.rows.slice(0, SHOWN_ROWS).map((row) => row[place])),
  );
  const left = table ? Math.max(0, table.rows.length - SHOWN_ROWS) + (table.more ?? 0) : 0;
  return (
    <Dialog title={say.table} name="table" close={props.close}>
      {error !== null && <p role="alert">{app.explain(error)}</p>}
      {!table && error === null && <p role="status">{say.readingTable}</p>}
      {table && (
        <>
          <div class="dialog-ways">
            <Button
              name="copy-table"
              act={() =>
                void copy(tabSeparated(table)).then(() => app.say(say.tableCopied), app.complain.bind(app))
              }
            >
              {say.copyTable}
            </Button>
            <Button
              name="save-table"
              icon="download"
              act={() =>
                saveText(
                  fileName([app.store.get().recording, app.store.get().view], "csv"),
                  csv(table),
                  "text/csv;charset=utf-8",
                )
              }
            >
              {say.saveTable}
            </Button>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <div class="table-frame" tabIndex={0} role="region" aria-label={table.caption}>
            <table class="data">
              <caption>{table.caption}</caption>
              <thead>
                <tr>
                  {table.columns.map((column, place) => (
                    <th key={place} scope="col">
                      {column}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {table.rows.slice(0, SHOWN_ROWS).map((row, place) => (
                  <tr key={place}>
                    {row.map((cell, column) => (
                      <td
                        key={column}
                        class={typeof cell === "number" ? "number" : ""}
                        title={typeof cell === "number" ? exact(cell) : undefined}
                        dir={typeof cell === "string" ? "auto" : undefined}
                      >
                        {typeof cell === "number" ? formats?.[column]?.(cell) : (cell ?? "–")}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {left > 0 && <p class="hint">{say.moreRows(left, count(left))}</p>}
        </>
      )}
    </Dialog>
  );
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

export function HelpDialog(props: { readonly close: () => void }) {
  const app = useApp();
  const say = app.words.value;
  return (
    <Dialog title={say.help} name="help" close={props.close}>
      <p>{say.helpText}</p>
      <h3>{say.shortcuts}</h3>
      <dl class="shortcuts">
        {shortcutList(say).map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <Check name="shortcuts" checked={app.shortcuts.value} change={(on) => app.chooseShortcuts(on)}>
        {say.shortcutsOn}
      </Check>
      <p class="hint">{say.markers}</p>
      <Glossary />
    </Dialog>
  );
}

/** The terms that the page uses, a sentence each. */
function Glossary() {
  const app = useApp();
  const { glossary: title, search, nothing, terms } = later(app.language.value);
  const [wish, setWish] = useState("");
  const found = terms.filter((entry) => entry.join(" ").toLowerCase().includes(wish.trim().toLowerCase()));
  return (
    <section class="glossary" data-part="glossary" aria-label={title}>
      <h3>{title}</h3>
      <input
        type="text"
        data-field="glossary"
        aria-label={search}
        placeholder={search}
        value={wish}
        onInput={(event) => setWish(event.currentTarget.value)}
      />
      <dl>
        {found.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      {found.length === 0 && <p class="hint">{nothing}</p>}
    </section>
  );
}
