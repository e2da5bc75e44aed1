"""Names that are also ordinary words: they count only as a capitalised whole token (G12).

Without this, a member called Will or Mark would turn half of the prose into tags.
"""

from __future__ import annotations

ORDINARY = frozenset(
    """
    abbey ace amber angel april archer art ash aspen august aurora autumn baker bank banks baron barry
    basil bay bear beau bell berry best bill birch bird bishop black blake blaze blue bond book boon
    booth bow bowl brandy breeze brick bridge bright brook brooks brown buck bud buddy burns bush butler
    cain candy carol carter case cash castle chance chandler chapel chase chip christian church clark
    clay cliff close cloud clover cole colt cook cooper coral cotton cove crane crew cross crystal daily
    daisy dale dash dawn day days deacon dean deer den desire destiny diamond dick dolly dom don dove
    drake drew duke dusty earl early east echo eden elder ember ernest eve ever fair faith falcon farmer
    fay feather fern field fields finch fine fish fisher flash flint flora flower ford forest forth fox
    frank franklin free freeman french frost gale game garden gardener garland garnet gates gay gene
    gentry gold golden good goose gown grace grant graves gray green grey grove guard guy hale hall hand
    hardy harmony harp harper harry hart haven hawk hazel head heart heath heather heaven henna hill
    hills holly home honey hood hook hope house hunt hunter ike iris ivory ivy jack jade jasmine jasper
    java jay jean jewel jim joan job john journey joy judge juliet july june justice karma kay keen key
    keys king kit kitty knight lake lamb lance lane lark laurel law lawn leaf lee legend liberty light
    lilac lily link lion lock london long lot lotus love low loyal luck lucky lynx mace maple marble
    march mark marks marsh marshal marshall martial mason mat max may mead meadow melody mercy merit
    merry mike miles mill miller mills milo mint miracle misty mitch monk moon moore moss mountain
    myrtle nelson nick night noble noel norm north nova oak ocean olive opal orchid otter owen page
    paige paris park parker parks parrish pat patience patsy pax peace peach pearl pebble peg penny
    pepper perry pet petal pete phoenix piper poe poet pole pollen poppy porter potter power powers
    presley price pride prince princess prior prudence rain rand randy raven ray red reed reef reese
    reign remy rice rich ridge river rivers rob robin rock rocket rocky rod roman rose rosemary rowan
    rowe royal ruby rush rusty ryder rye sable sage sail saint sally salmon salt sam sand sandy saw
    scarlet scout sea season serenity shade sharp shaw shell shepherd sherry shore short silver sky
    slate sloan small smart smith snow sol song sonny sparrow spencer spring spruce star stark stella
    stem sterling steward stewart stone storm story stout street strong sue summer summers sunday sunny
    swan sweet swift tab talon tanner tate taylor teal ted temple terry thorn tiger tim timber tony
    tower towns trace tracy treasure tree trinity trip troop trout true tucker turner tyler union usher
    vale valentine valor van vance vera victor victory viola violet vista wade walker wall waller ward
    warden waters watts wave weaver webb webster well wells west wheat wheeler whit white will winner
    winter winters wise wolf wood woods woody worth wren wright young
    """.split()  # noqa: SIM905 - a word list reads better than a list of strings
)
"""Lower-case, folded. English only: other scripts of our users have no capitals to tell by."""

HEBREW_WORDS = frozenset(
    "אור גל טל שיר רון נוי שי שלום חן בר עמית דור ים שחר אביב סתיו רז נס פז לילך ורד תמר אלון זהר".split()  # noqa: SIM905 - Hebrew on purpose
)
"""Hebrew names that are also common nouns: no definite article is taken for a name's prefix."""
