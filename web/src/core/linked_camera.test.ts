import { expect, test, vi } from "vitest";
import { cameraOption, LinkedCamera, scaleOption } from "./linked_camera";

test("a link is written once after moves, and followed when it changes", () => {
  let act = () => {};
  const later = (_: string, __: number, then: () => void) => {
    act = then;
  };
  const picture = { at: null as string | null };
  let kept: string | null = null;
  const set = vi.fn((at: string | null) => {
    kept = at;
  });
  const camera = new LinkedCamera("cloud", picture, { get: () => kept, set }, { later });
  picture.at = "1_2_3";
  camera.moved();
  camera.follow(); // before the link is written: the picture stays as it is
  expect(picture.at).toBe("1_2_3");
  act();
  expect(set).toHaveBeenCalledExactlyOnceWith("1_2_3");
  kept = "4_5_6"; // the back button
  camera.follow();
  expect(picture.at).toBe("4_5_6");
});

test("only numbers are cameras", () => {
  expect([cameraOption().parse("1_-2.5_3"), cameraOption().parse("1_x_3")]).toEqual(["1_-2.5_3", undefined]);
  expect([scaleOption().parse("1.5"), scaleOption().parse("a")]).toEqual(["1.5", undefined]);
});
