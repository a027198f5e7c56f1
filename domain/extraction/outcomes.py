"""Find outcomes that an agent reports: a booking, cancellation, change, message or refusal, with its object."""

import re

_DONE = (
    r"(?:accepted|activated|added|adjusted|applied|approved|archived|assigned|backed up|blocked|booked|cancell?ed|"
    r"changed|"
    r"charged|closed|committed|completed|configured|confirmed|converted|created|credited|deactivated|declined|deleted|"
    r"delivered|denied|deployed|disabled|downgraded|emailed|enabled|escalated|exchanged|fixed|generated|granted|"
    r"installed|"
    r"issued|launched|merged|migrated|modified|moved|notified|opened|ordered|paid|placed|posted|processed|published|"
    r"purchased|reactivated|rebooked|received|recorded|refunded|registered|rejected|released|removed|renamed|renewed|"
    r"reopened|replaced|requested|rescheduled|reserved|reset|resolved|restored|returned|reverted|rolled back|saved|"
    r"scheduled|sent|set up|shipped|signed|submitted|subscribed|suspended|switched|transferred|unlocked|unsubscribed|"
    r"updated|upgraded|uploaded|verified|waived|withdrawn)"
)
_SETTLED = (
    r"(?:approved|booked|cancell?ed|closed|confirmed|declined|denied|paid|rebooked|refunded|rejected|reserved|"
    r"rescheduled|resolved|scheduled|shipped|waived)"
)
_PASSIVE = re.compile(
    rf"\b(?:has|have|had|was|were|been|got)(?: (?:now|been|successfully|already|also|all|both|just|automatically))"
    rf"{{0,3}} {_DONE}\b|\b(?:is|are)(?: (?:also|all|both))? (?:(?:now|successfully|already) {_DONE}|{_SETTLED})\b",
    re.IGNORECASE,
)
"""Completed work. "Is created" alone explains how a thing works; "is booked" and "is now created" report an event."""
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_NOT_DONE = re.compile(
    r"\b(?:hasn't|haven't|wasn't|weren't|isn't|aren't|not yet|yet to|has not|have not|was not|were not)\b|\byet\b|"
    r"\b(?:see|sees|understand|know|think|notice|noticed|assume|believe|remember)\b(?: that\b)?",
    re.IGNORECASE,
)
_ACTIVE = re.compile(
    rf"\b(?:i|we|i've|we've|i have|we have)(?: (?:have|now|successfully|already|also|just|then))"
    rf"{{0,3}} {_DONE} (?:the|your|a|an|all|both|this|that|it|\d|[A-Z\"'`])",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|unable to|not (?:able|eligible|possible|allowed|available|permitted)(?: to|"
    r" for)?|"
    r"isn't eligible|aren't eligible|does not (?:qualify|allow|cover)|doesn't (?:qualify|allow|cover))\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(
    r"\b(?=[A-Z0-9-]{0,40}\d)(?=[A-Z0-9-]{0,40}[A-Z])[A-Z0-9][A-Z0-9-]{3,40}\b|[$€£¥]\s?\d|\b\d[\d,.]{0,20}\s?(?:usd|eur|gbp|jpy|ngn|"
    r"dollars|"
    r"euros|%|percent|gb|mb|kg|km|miles|days?|hours?|bags?|tickets?)\b|#\d+|`[^`\n]{2,60}`|\b[\w-]{1,80}\.(?:py|js|ts|md|"
    r"json|"
    r"ya?ml|toml|sql|csv|pdf|txt|html|css|go|rs|java|sh)\b|\b(?:v\d+(?:\.\d+)*|\d+\.\d+\.\d+)\b|[^\s@]{1,64}@[^\s@]{1,100}\.\w|"
    r"\b\d{1,2}:\d\d\b|\b\d{4}-\d\d-\d\d\b|\"[^\"\n]{3,80}\"|'[A-Z][^'\n]{3,60}'|\b(?:jan|feb|mar|apr|may|jun|jul|aug|"
    r"sep|oct|"
    r"nov|dec)[a-z]* \d{1,2}\b|\b\d{1,2} ?(?:am|pm)\b",
    re.IGNORECASE,
)
_ID = re.compile(r"\b(?=[A-Z0-9-]{0,40}[A-Z])(?=[A-Z0-9-]{0,40}\d)[A-Z0-9-]{4,40}\b")
_PENDING = re.compile(
    r"\b(?:will be|would be|can be|could be|should be|to be|being|may be|might be|must be|need(?:s)? to|once|if|unless|"
    r"until|before|would you|do you|please|shall)\b",
    re.IGNORECASE,
)


def is_outcome(sentence: str) -> bool:
    """Return True if an agent's sentence reports specific work or a specific refusal, without a condition."""
    if sentence.rstrip().endswith(("?", ":")):
        return False
    if _REFUSED.search(sentence):
        return _ID.search(sentence) is not None and "if " not in sentence.lower()
    told = _QUOTED.sub('""', sentence)
    done = _PASSIVE.search(told) or _ACTIVE.search(told)
    if done is None or _PENDING.search(told[: done.end()]) or _NOT_DONE.search(told):
        return False
    # A quoted word does not name the agent's work, unless the agent reports the work in the active voice.
    return has_specifics(told if _ACTIVE.search(told) is None else sentence)


def has_specifics(sentence: str) -> bool:
    """Return True if a sentence contains an identifier, an amount, a file, a version or a time."""
    return _SPECIFIC.search(sentence) is not None
