"""Sentence pairs with other names: Tom and Mary are nearly the only people in the data.

    python recipes/other_names.py data/translation

In:   en-fr/, en-de/, en-zh/ there, training splits.
Out:  names/en-fr/ and so on: pairs with Tom or Mary once more, with names drawn from the list below; dev is
      empty.

The list holds common English given names with their usual Chinese spellings.
"""

import argparse
import gzip
import random
import re
from pathlib import Path

MOST = 12_000  # pairs of a language
DRAWN = {"fr": 1, "de": 1, "zh": 4}  # how often each pair gets other names: there are few Chinese ones
MEN = """Adam 亚当, Alan 艾伦, Albert 阿尔伯特, Alex 亚历克斯, Alexander 亚历山大, Alfred 阿尔弗雷德,
Andrew 安德鲁, Andy 安迪, Anthony 安东尼, Arthur 亚瑟, Ben 本, Benjamin 本杰明, Bill 比尔, Billy 比利,
Bob 鲍勃, Bobby 鲍比, Brian 布莱恩, Bruce 布鲁斯, Carl 卡尔, Charles 查尔斯, Charlie 查理, Chris 克里斯,
Daniel 丹尼尔, Danny 丹尼, David 大卫, Dick 迪克, Donald 唐纳德, Eddie 埃迪, Edward 爱德华, Eric 埃里克,
Frank 弗兰克, Fred 弗雷德, Gary 加里, George 乔治, Harry 哈利, Henry 亨利, Howard 霍华德, Jack 杰克,
Jackson 杰克逊, Jacob 雅各布, James 詹姆斯, Jason 杰森, Jeff 杰夫, Jeffrey 杰弗里, Jerry 杰瑞, Jerry 杰里,
Jim 吉姆, Jimmy 吉米, Joe 乔, John 约翰, Johnny 约翰尼, Jonathan 乔纳森, Joseph 约瑟夫, Justin 贾斯汀,
Keith 基思, Ken 肯, Kevin 凯文, Larry 拉里, Leo 利奥, Louis 路易斯, Luke 卢克, Mark 马克, Martin 马丁,
Matthew 马修, Max 马克斯, Michael 迈克尔, Mike 迈克, Nick 尼克, Oliver 奥利弗, Oscar 奥斯卡,
Patrick 帕特里克, Paul 保罗, Peter 彼得, Philip 菲利普, Ray 雷, Richard 理查德, Robert 罗伯特, Roger 罗杰,
Ronald 罗纳德, Roy 罗伊, Ryan 瑞安, Sam 萨姆, Samuel 塞缪尔, Scott 斯科特, Simon 西蒙, Stephen 斯蒂芬,
Steve 史蒂夫, Steven 史蒂文, Ted 泰德, Terry 特里, Tim 蒂姆, Tony 托尼, Victor 维克多, Vincent 文森特,
Walter 沃尔特, Will 威尔, William 威廉"""
WOMEN = """Alice 爱丽丝, Amanda 阿曼达, Amy 艾米, Angela 安吉拉, Ann 安, Anna 安娜, Anne 安妮,
Barbara 芭芭拉, Betty 贝蒂, Carol 卡罗尔, Caroline 卡罗琳, Catherine 凯瑟琳, Cathy 凯茜,
Christina 克里斯蒂娜, Cindy 辛迪, Claire 克莱尔, Daisy 黛西, Diana 戴安娜, Dorothy 多萝西,
Elizabeth 伊丽莎白, Ella 埃拉, Ellen 艾伦, Emily 艾米莉, Emma 艾玛, Eva 伊娃, Grace 格蕾丝, Helen 海伦,
Irene 艾琳, Jane 简, Janet 珍妮特, Jennifer 詹妮弗, Jenny 珍妮, Jessica 杰西卡, Joan 琼, Judy 朱迪,
Julia 朱莉娅, Julie 朱莉, Karen 凯伦, Kate 凯特, Kelly 凯利, Laura 劳拉, Lily 莉莉, Linda 琳达, Lisa 丽莎,
Lucy 露西, Maggie 玛吉, Margaret 玛格丽特, Maria 玛丽亚, Mia 米娅, Michelle 米歇尔, Monica 莫妮卡,
Nancy 南希, Nicole 妮可, Nina 妮娜, Olivia 奥利维亚, Rachel 瑞秋, Rebecca 丽贝卡, Rose 罗丝, Ruth 露丝,
Sally 萨莉, Sandra 桑德拉, Sarah 莎拉, Sophia 索菲亚, Sophie 索菲, Susan 苏珊, Sylvia 西尔维娅, Tina 蒂娜,
Vera 维拉, Victoria 维多利亚, Wendy 温迪"""
PEOPLE = (("Tom", "汤姆", MEN), ("Mary", "玛丽", WOMEN))


def main() -> None:
    """Read pairs, write those with other names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for language in ("fr", "de", "zh"):
        draw = random.Random(1)
        made: list[str] = []
        with gzip.open(folder / f"en-{language}/train.tsv.gz", "rt", encoding="utf-8") as file:
            for line in file:
                english, other = line.rstrip("\n").split("\t")
                for _ in range(DRAWN[language]):
                    renamed = rename(english, other, language, draw)
                    if renamed != (english, other):
                        made.append("\t".join(renamed) + "\n")
        target = folder / f"names/en-{language}"
        target.mkdir(parents=True, exist_ok=True)
        gzip.open(target / "dev.tsv.gz", "w").close()
        made = list(dict.fromkeys(made))
        with gzip.open(target / "train.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(draw.sample(made, min(MOST, len(made))))


def rename(english: str, other: str, language: str, draw: random.Random) -> tuple[str, str]:
    """The pair with other people in it; where there are two, one of them may stay."""
    for name, chinese, names in PEOPLE:
        spelt = chinese if language == "zh" else name
        if not english.count(name) == other.count(spelt) == len(re.findall(rf"\b{name}\b(?!')", english)) > 0:
            continue  # another spelling, or a genitive
        if f"{chinese}亚" in other or re.search(rf"\b{name}[s'’]", other) or draw.random() < 0.2:
            continue
        new, written = draw.choice(names.replace("\n", " ").split(", ")).split()
        if language == "fr" and new[0] in "AEHIOU":
            continue  # "de" would become "d'"
        english = english.replace(name, new)
        other = other.replace(spelt, written if language == "zh" else new)
    return english, other


if __name__ == "__main__":
    main()
