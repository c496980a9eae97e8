"""Every message of the source that names a remedy is provoked, and each of its remedies is followed."""

import warnings
from pathlib import Path

import pytest

import structperc
from advice import of_commands, of_engine, of_estimators, of_plugins, of_reading, of_scores, of_solvers
from advice.following import sentences
from structperc.errors import StructPercError

ROOT = Path(structperc.__file__).parent.parent
MODULES = (of_commands, of_engine, of_estimators, of_plugins, of_reading, of_scores, of_solvers)
MESSAGES = [message for module in MODULES for message in module.MESSAGES]
SKIP = pytest.mark.skipif(not (ROOT / "plugins").is_dir(), reason="the sources of the plugins are not here")


def messages_from(call, folder) -> list:
    """The error of a call, or its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(folder)
        except (StructPercError, AttributeError) as error:
            return [str(error)]
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"{Path(message.module).stem}-{message.words[:24]}")
def test_each_remedy_of_a_message_works(message, tmp_path):
    said = [text for text in messages_from(message.provoke, tmp_path) if message.words in text]
    assert said, (message.words, messages_from(message.provoke, tmp_path))
    for remedy in message.remedies:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            remedy(tmp_path)
        assert not [one for one in caught if message.words in str(one.message)]


@SKIP
def test_every_message_with_a_remedy_is_followed():
    every = [(f"{part}/{module}", line, said) for part in ("structperc", "plugins") for module, line, said in sentences(ROOT / part)]
    assert not [message for message in every if not any(one.module == message[0] and one.words in message[2] for one in MESSAGES)]
