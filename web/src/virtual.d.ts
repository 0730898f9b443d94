declare module "virtual:views" {
  const list: readonly import("./views").ViewTitle[];
  export default list;
}
