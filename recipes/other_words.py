"""Chinese verbs that the data has seldom or never, in short sentences about two people or animals.

    python recipes/other_words.py data/translation

In:   nothing but the lists below and the names of recipes/other_names.py.
Out:  words/en-zh/ there: pairs such as "Alice hugged Bob." and 爱丽丝拥抱了鲍勃。; dev is empty. Tom and
      Jerry never meet in them: what a translator makes of 汤姆追逐杰瑞 is not learnt by heart.
"""

import argparse
import gzip
import random
from pathlib import Path

from other_names import PEOPLE

EACH = 150  # sentences of an English verb
DONE = """chased 追逐 追赶 追, followed 跟随 跟着 尾随, hugged 拥抱 抱住, kissed 亲吻 吻, kicked 踢,
pushed 推, pulled 拉, hit 打 击打, helped 帮助 帮 协助, saved 救 拯救 挽救, caught 抓住 捉住 逮住,
attacked 攻击 袭击, defeated 打败 击败 战胜, thanked 感谢 答谢, praised 表扬 称赞 夸奖 赞扬,
criticized 批评 指责, comforted 安慰, encouraged 鼓励 激励, warned 警告, deceived 欺骗 骗,
mocked 嘲笑 取笑, threatened 威胁 恐吓, protected 保护 守护, visited 拜访 探望, invited 邀请,
met 遇见 碰见, saw 看见 看到, recognized 认出, forgave 原谅 宽恕 饶恕, interrupted 打断, ignored 忽视 无视,
imitated 模仿 效仿, punished 惩罚 处罚, found 找到, hurt 伤害, woke 叫醒 唤醒"""
LASTING = """loves 爱 喜爱, hates 恨 憎恨 厌恶, knows 认识, respects 尊敬 尊重, trusts 信任,
envies 羡慕 嫉妒, misses 想念 思念, admires 钦佩 敬佩, understands 理解 了解, needs 需要"""
ANIMALS = """the cat 猫, the dog 狗, the mouse 老鼠, the horse 马, the lion 狮子, the tiger 老虎,
the monkey 猴子, the rabbit 兔子, the wolf 狼, the fox 狐狸, the bird 鸟, the boy 男孩, the girl 女孩,
the teacher 老师, the child 孩子, the policeman 警察, the thief 小偷, the doctor 医生"""


def main() -> None:
    """Make pairs, and write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    target = parser.parse_args().folder / "words/en-zh"
    target.mkdir(parents=True, exist_ok=True)
    gzip.open(target / "dev.tsv.gz", "w").close()
    made = make_pairs(random.Random(1))
    with gzip.open(target / "train.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{english}\t{chinese}\n" for english, chinese in made)


def make_pairs(draw: random.Random) -> list[tuple[str, str]]:
    """English and Chinese of every sentence, none of them twice."""
    people = [("Tom", "汤姆"), ("Mary", "玛丽")]
    people += [pair for _, _, names in PEOPLE for pair in read_list(names)]
    animals = read_list(ANIMALS)
    made: list[tuple[str, str]] = []
    for verbs, ends in ((DONE, ("", "了")), (LASTING, ("",))):
        for english, *chinese in (line.split() for line in verbs.replace("\n", " ").split(", ")):
            for _ in range(EACH):
                first, second = draw.sample(people if draw.random() < 0.6 else animals, 2)
                if {first[0], second[0]} == {"Tom", "Jerry"}:
                    continue
                verb, end, stop = draw.choice(chinese), draw.choice(ends), draw.choice("。。 ")
                sentence = f"{first[0]} {english} {second[0]}."
                made.append(
                    (sentence[0].upper() + sentence[1:], f"{first[1]}{verb}{end}{second[1]}{stop}".strip())
                )
    return list(dict.fromkeys(made))


def read_list(text: str) -> list[tuple[str, str]]:
    """English and Chinese of each entry."""
    entries = (entry.rsplit(" ", 1) for entry in text.replace("\n", " ").split(", "))
    return [(english, chinese) for english, chinese in entries]


if __name__ == "__main__":
    main()
