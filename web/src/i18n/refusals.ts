/** The server explains in English; what can be said in Chinese by its code alone is said so. */

import type { Refusal } from "../source";
import type { Language } from "../types";

const chinese: Readonly<Record<string, string>> = {
  body_too_long: "发送的内容太大，服务器不接收。",
  busy: "服务器正忙，请稍后再试。",
  closing: "服务器正在关闭。",
  no_job: "没有这个任务；它可能已经结束。",
  no_model: "这里没有这个模型。请从列表中选择，或检查名称。",
  no_recording: "这里没有这个记录，它可能已被移除。请从列表中选择。",
  no_workbench: "这里不能运行模型。",
  not_a_bundle: "这不是 Glassformer 的记录文件。",
  not_recorded: "此记录没有保留这一部分。请重新运行模型并保留它。",
  queue_full: "排队的任务太多，请稍后再试。",
  shipped: "附带的记录不能移除。",
  text_too_long: "文本太长，请缩短后再试。",
  too_long: "文本对此模型来说太长，请缩短后再试。",
  too_many_cells: "请求的范围太大，请缩小后再试。",
  too_many_tokens: "词元太多，请缩短文本。",
  too_slow: "等待时间过长，服务器已停止。",
};

export function explain(refusal: Refusal, language: Language): string {
  const own = language === "zh" ? chinese[refusal.code] : undefined;
  return own ?? refusal.sentence;
}
