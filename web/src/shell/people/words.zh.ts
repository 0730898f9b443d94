/** 使用者对话框的文字。 */

import type * as en from "./words.en";

export const people: typeof en.people = {
  role: {
    viewer: "查看者：查看与您共享的内容",
    runner: "运行者：运行模型、上传、训练、共享",
    admin: "管理员：查看并更改一切",
  },
  storage: "您的记录",
  used: (used) => `占用磁盘 ${used} MB`,
  left: (used, most, left) => `占用磁盘 ${used} / ${most} MB，还剩 ${left} MB`,
  full: (used, most) => `占用磁盘 ${used} / ${most} MB：已满。请删除一些记录。`,
  sees: "谁可以查看",
  recording: (title) => `记录“${title}”`,
  run: (id) => `训练运行 ${id}`,
  private: "仅所有者",
  team: "团队：已登录的人",
  public: "有链接的人，无需登录",
  of: (owner) => `属于 ${owner}；只有其本人和管理员能决定谁可以查看。`,
  ofNobody: "不属于任何人：由管理员决定谁可以查看。",
  ofAdmin: (owner) => `它属于 ${owner}。`,
  ships: "它随 Glassformer 提供：所有人都能看到。",
};
