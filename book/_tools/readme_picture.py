"""Draw the README's figure of the selection rates on Adult with and without the penalty.

Run it from the top folder after a change to the library:
``.venv/bin/python book/_tools/readme_picture.py``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from renyi_book.plotting import COLORS, use_house_style
from renyi_book.svg import svg
from renyi_lib import RenyiClassifier, group_rates
from renyi_lib.datasets import load_adult

TARGET = Path(__file__).parents[1] / "_static" / "selection-rates.svg"


def main():
    use_house_style()
    data = load_adult().encode(scaling="standard")
    fig, axes = plt.subplots(1, 2, figsize=(8, 2.5), sharex=True)
    for ax, lam, title in zip(
        axes, (0, 3), ("Trained as usual", "With the Rényi penalty, λ = 3"), strict=True
    ):
        model = RenyiClassifier(lam=lam).fit(
            data.X_train, data.y_train, sensitive_features=data.s_train
        )
        decision = model.predict(data.X_test)
        rates = 100 * group_rates(None, decision, sensitive_features=data.s_test)
        accuracy = 100 * np.mean(decision == data.y_test)
        colors = [COLORS["orange"], COLORS["blue"]]
        ax.barh(["women", "men"], rates, color=colors, height=0.6)
        for i, rate in enumerate(rates):
            ax.text(rate + 0.5, i, f"{rate:.0f} %", va="center", fontsize=11)
        ax.set_title(f"{title}\naccuracy {accuracy:.1f} %")
        ax.set(xlim=(0, 32), xlabel="predicted to earn more than $50k".replace("$", r"\$"))
        ax.invert_yaxis()
        ax.grid(visible=False)
    TARGET.write_text(svg(fig) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
