/** What the build makes up: the list of views for their tabs (vite.views.ts). */

declare module "virtual:views" {
  const list: readonly import("./shell/views").ViewTitle[];
  export default list;
}
