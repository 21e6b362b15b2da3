import type { DecisionRecord } from "../model/record.js";
import type { LabelCondition } from "../record/label-conditions.js";
import { maskMarker } from "../record/mask.js";
import type { ProvenChange, WhyNot } from "../record/why-not.js";
import type { PathChange } from "../analysis/context-edit.js";
import type { Json } from "../model/json.js";
import { oneLine } from "../text.js";
import type { Style, View } from "./format.js";
import { fieldLine, hangingText } from "./format.js";
import type { RecordRow } from "./record-text.js";
import { decisionText, identityRows, readValueTexts } from "./record-text.js";

/** The answer to the question why a record did not choose a label. */
export function whyNotView(whyNot: WhyNot, record: DecisionRecord, intact: boolean): View {
  const rows = rowsOf(whyNot, record, intact);
  return {
    value: whyNot,
    plain: () =>
      [{ name: "answer", text: whyNot.summary }, ...rows]
        .map(({ name, text, under = [] }) => [name, text, ...under].map(oneLine).join("\t"))
        .join("\n"),
    table: (style) => {
      const answer = hangingText(oneLine(whyNot.summary), style, { start: 0, indent: 2 });
      return [style.paint("bold", answer), "", ...rows.flatMap((row) => rowLines(row, style))].join("\n");
    },
  };
}

const nameWidth = 13;

function rowLines({ name, text, under = [] }: RecordRow, style: Style): readonly string[] {
  const indent = nameWidth + 5;
  return [
    fieldLine(name, oneLine(text), style, nameWidth),
    ...under.map((each) => " ".repeat(indent) + hangingText(oneLine(each), style, { start: indent, indent })),
  ];
}

function rowsOf(whyNot: WhyNot, record: DecisionRecord, intact: boolean): readonly RecordRow[] {
  const { selected, conditions, overruled_by, change, reason } = whyNot;
  return [
    { name: "decision", text: decisionText(record) },
    ...identityRows(record, intact),
    {
      name: "selected",
      text: selected.length === 0 ? "nothing, because it was blocked" : selected.join(", "),
    },
    ...conditions.map(conditionRow),
    ...overruled_by.map(({ message }) => ({ name: "overruled", text: message })),
    ...(change === null ? [] : changeRows(change)),
    ...(reason === null ? [] : [{ name: "change", text: reason.message }]),
  ];
}

function conditionRow(condition: LabelCondition): RecordRow {
  const { label, text, result } = condition;
  const mark = result === null ? "!" : result ? "✓" : "✗";
  return { name: "condition", text: `${mark} ${label}: ${text}`, under: readValueTexts(condition) };
}

function changeRows({ paths, input, result, smallest, assumes }: ProvenChange): readonly RecordRow[] {
  return [
    ...paths.map((each) => ({
      name: "change",
      text: changeText(each) + (each.fetched === true ? " (fetched)" : ""),
    })),
    { name: "result", text: result.selected_labels.join(", ") },
    { name: "input", text: JSON.stringify(input) },
    ...(smallest
      ? []
      : [
          {
            name: "note",
            text: "a change of fewer paths may exist: not all parts of the conditions are analysed",
          },
        ]),
    ...assumes.map((text) => ({ name: "note", text })),
  ];
}

const changeText = ({ path, from, to }: PathChange): string =>
  `${path}: ${from === undefined ? "missing" : valueText(from)} → ${to === undefined ? "removed" : valueText(to)}`;

/** A masked value is not quoted. */
const valueText = (value: Json): string => (value === maskMarker ? maskMarker : JSON.stringify(value));
