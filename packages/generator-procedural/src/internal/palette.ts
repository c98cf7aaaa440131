/** Selects colours by the words of a prompt. */
import { Chance, hash } from "./chance.ts"
import { fromHex, mix, type Rgb, turn } from "./color.ts"
import type { Words } from "./words.ts"

/** Six harmonious colours from dark to light. */
export type Palette = readonly [Rgb, Rgb, Rgb, Rgb, Rgb, Rgb]

/** Returns the palette of a prompt. The same words give similar colours, which `key` varies slightly. */
export const paletteOf = (words: Words, key: string): Palette => {
  const chance = new Chance(`palette|${key}`)
  const ranked = entries
    .map((entry) => ({ entry, score: words.count(entry.words) + 2 * words.count(entry.words.filter(isColor)) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
  const [first, second] = ranked
  const base = first === undefined ? borrowed(words) : first.entry.colors
  const tinted = second === undefined ? base : paired(base, second.entry.colors, (a, b) => mix(a, b, 0.15))
  const degrees = chance.between(-9, 9)
  return paired(tinted, tinted, (color) => turn(color, degrees))
}

/** Returns whether the words of a prompt ask for a dark picture. */
export const isDark = (words: Words): boolean => {
  if (words.has("night", "midnight", "dark", "neon", "cyberpunk", "noir", "space", "galaxy", "moonlit", "starry")) {
    return true
  }
  const scores = entries.map((entry) => ({ entry, score: words.count(entry.words) }))
  const best = scores.toSorted((a, b) => b.score - a.score)[0]
  return best !== undefined && best.score > 0 && best.entry.dark
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Entry {
  readonly words: ReadonlyArray<string>
  readonly colors: Palette
  readonly dark: boolean
}

const entry = (words: string, colors: string, dark = false): Entry => {
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = colors.split(" ")
  return {
    words: words.split(","),
    colors: [fromHex(a), fromHex(b), fromHex(c), fromHex(d), fromHex(e), fromHex(f)],
    dark
  }
}

/** Words that name the colour itself. They outweigh places, of which "a red planet in space" has two. */
const colorNames = (
  "red,crimson,scarlet,ruby,blue,azure,cobalt,sapphire,yellow,lemon,sunflower,sunflowers,gold,amber,orange,rose,roses," +
  "pink,magenta,purple,violet,lavender,amethyst,teal,turquoise,green,emerald,monochrome,terracotta"
).split(",")
const isColor = (word: string): boolean => colorNames.includes(word)

// Of entries that fit equally well the first decides, so the names of colours come first and places last.
const entries: ReadonlyArray<Entry> = [
  entry("red,crimson,scarlet,ruby", "#14030a #470a1c #8f1330 #d42a45 #f58a8a #ffe9e2"),
  entry("blue,azure,cobalt,sapphire", "#061026 #0e2a5c #1d56b0 #4c93e8 #a9d0f7 #f2f8ff"),
  entry("purple,violet,lavender,amethyst", "#10061f #2d1259 #5b2bb0 #9a63e0 #d3b4f5 #f7f0ff"),
  entry("yellow,lemon,sunflower,sunflowers,sunny", "#2a1c06 #6b4a0c #b8860f #f2c230 #fbe38a #fffbe6"),
  entry("sunset,dusk,evening,golden hour,twilight", "#1b1035 #5b1a5e #b83b5e #f08a5d #f9c56e #fff0c4"),
  entry("dawn,sunrise,morning", "#22294f #5a5b9f #b383b8 #f2a7a0 #fbd3a8 #fff4df"),
  entry("night,midnight,moon,moonlit,dark,starry", "#050a1c #0d1b3e #1d3a6b #3f6ea3 #93b9d9 #f0f4e6", true),
  entry(
    "neon,cyberpunk,synthwave,vaporwave,retrowave,arcade,hologram",
    "#08021a #25085e #7a0fbf #f01c9c #22d3ee #e6fffb",
    true
  ),
  entry("pastel,dream,dreamy,soft,candy,cotton", "#6f7fb5 #a9a7dc #d8b7e3 #f7c6d3 #fde3cf #fffaf0"),
  entry(
    "ink,monochrome,noir,charcoal,black and white,sumi,sketch,minimal",
    "#0c0d10 #2a2d34 #5a5f69 #949aa3 #cfd2d3 #f6f3ea"
  ),
  entry("gold,golden,brass,luxury,amber,honey", "#15100a #43300f #8a6218 #cf9d34 #f1d27a #fff6d8"),
  entry("fire,lava,volcano,ember,flame,dragon,inferno", "#120406 #4d0b0f #a61c12 #ee5a1b #fdb034 #fff1b8", true),
  entry("ice,snow,winter,glacier,arctic,frozen,frost,snowy", "#0b1f35 #28567e #5f9fc4 #a4d3e6 #d9f0f5 #fbffff"),
  entry("autumn,fall,maple,pumpkin,harvest,orange", "#26120f #5c2318 #a5431d #d97c2b #edb75a #fbeccb"),
  entry("spring,blossom,cherry,sakura,meadow", "#1d3b2a #4a7a4c #95b96b #f2a7bd #f9d3dc #fffbe9"),
  entry("earth,coffee,wood,clay,vintage,sepia,leather", "#1e1713 #4a382b #7f6247 #b4916a #d9c3a0 #f5ecdc"),
  entry(
    "berry,rose,roses,romantic,pink,magenta,wine,orchid",
    "#1c0820 #4b1248 #8c2267 #d14c86 #f5a3b0 #ffeee6"
  ),
  entry(
    "ocean,sea,underwater,teal,lagoon,wave,waves,coast,beach,turquoise",
    "#03192d #06395c #0a6a8c #26a6b0 #8fdccb #f1fbe9"
  ),
  entry("forest,jungle,green,emerald,moss,garden,bamboo", "#07180f #123524 #2a5d3a #5f8f4e #b5c779 #f3f0cf"),
  entry("desert,dune,dunes,canyon,mars,sand,terracotta", "#3a1420 #7a2f2b #c05c35 #e59a52 #f4cf8e #fdf1d6"),
  entry(
    "space,galaxy,nebula,cosmos,cosmic,universe,planet,saturn,jupiter,astronaut,orbit,stars",
    "#060616 #1a1446 #4b2a8a #a14fb8 #f0a3b5 #fff1e0",
    true
  )
]

/** The palette of a prompt without known words: one of the others with rotated hues. */
const borrowed = (words: Words): Palette => {
  const [which, turned] = hash(words.list.join(" "))
  const { colors } = entries[which % entries.length]!
  return paired(colors, colors, (color) => turn(color, turned % 41 - 20))
}

const paired = (a: Palette, b: Palette, combine: (a: Rgb, b: Rgb) => Rgb): Palette => [
  combine(a[0], b[0]),
  combine(a[1], b[1]),
  combine(a[2], b[2]),
  combine(a[3], b[3]),
  combine(a[4], b[4]),
  combine(a[5], b[5])
]
