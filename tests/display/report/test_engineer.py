"""What an engineer needs."""

import re


def test_the_code_to_repeat_the_search_holds_the_settings(report):
    code = re.search("<pre>(.*?)</pre>", report, re.DOTALL).group(1)
    assert "from skauto import AutoClassifier" in code
    assert "max_evals=7" in code
    assert "this gives the same model" in report
