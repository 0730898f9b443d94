/** The server explains in English; what can be said in Chinese by its code alone is said so. */

import type { Refusal } from "../source";
import type { Language } from "../types";

/** A function says in Chinese what kind of failure it is, and keeps the server's words about this one. */
const chinese: Readonly<Record<string, string | ((sentence: string) => string)>> = {
  body_too_long: "发送的内容太大，服务器不接收。",
  bug: "服务器内部出错，详情见其终端。",
  busy: "服务器正忙，请稍后再试。",
  cancelled: "任务已取消。",
  cannot_be: (sentence) => `这样不行：${sentence}`,
  closing: "服务器正在关闭。",
  crashed: "运行模型的进程意外结束。请缩短文本，或换一个模型再试。",
  failed: (sentence) => `模型运行失败：${sentence}`,
  foreign_host: "不能以这个名称访问此服务器。请使用它启动时打印的地址。",
  foreign_origin: "只接受来自本服务器页面的请求。请打开页面本身。",
  foreign_site: "只接受来自本服务器页面的请求。请打开页面本身。",
  form: "请直接发送文件本身，而不是表单。",
  gone: "已无人等待这个答案。",
  http: "服务器不接受这样的请求。",
  malformed: (sentence) => `请求的格式有误：${sentence}`,
  no_cell: (sentence) => `没有这一格：${sentence}`,
  no_job: "没有这个任务；它可能已经结束。",
  no_map: "此记录没有这张注意力图。请从列表中选择。",
  no_metric: "没有这个指标。请从列表中选择。",
  no_model: "这里没有这个模型。请从列表中选择，或检查名称。",
  no_recording: "这里没有这个记录，它可能已被移除。请从列表中选择。",
  no_room: "磁盘空间不足，文件无法保存。请腾出空间后重新发送。",
  no_side: "此记录没有目标文本。",
  no_step: "这次走读中没有这一步。",
  no_steps: "此主题不需要逐步训练。",
  no_such_address: "这个地址没有内容。",
  no_token: "此服务器需要令牌。请打开启动时打印的地址。",
  no_topic: "没有这个主题。请从列表中选择。",
  no_workbench: "这里不能运行模型。",
  not_a_bundle: "这不是 Glassformer 的记录文件。",
  not_recorded: "此记录没有保留这一部分。请重新运行模型并保留它。",
  out_of_memory: "内存不足，无法完成这次运行。请缩短文本，或少保留一些内容。",
  out_of_range: (sentence) => `超出范围：${sentence}`,
  queue_full: "排队的任务太多，请稍后再试。",
  refused: (sentence) => `无法这样运行：${sentence}`,
  shipped: "附带的记录不能移除。",
  text_too_long: "文本太长，请缩短后再试。",
  too_long: "文本对此模型来说太长，请缩短后再试。",
  too_many_cells: "请求的范围太大，请缩小后再试。",
  too_many_tokens: "词元太多，请缩短文本。",
  too_slow: "等待时间过长，服务器已停止。",
};

export function explain(refusal: Refusal, language: Language): string {
  const own = language === "zh" ? chinese[refusal.code] : undefined;
  return typeof own === "function" ? own(refusal.sentence) : (own ?? refusal.sentence);
}
