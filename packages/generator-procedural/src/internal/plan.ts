/** Parses a prompt with a lexicon: its words select scene, colours, light and weather. */
import { Chance } from "./chance.ts"
import { Ramp } from "./color.ts"
import { isDark, type Palette, paletteOf } from "./palette.ts"
import { Words } from "./words.ts"

/** A kind of scene. */
export type SceneName = "landscape" | "cosmos" | "city" | "bloom" | "flow" | "geometry"

/** The properties of a picture that follow from its prompt. */
export interface Plan {
  /** Key of the pseudo-random numbers of this picture. */
  readonly key: string
  readonly scene: SceneName
  readonly words: Words
  readonly palette: Palette
  /** The palette as a gradient from dark to light. */
  readonly ramp: Ramp
  /** A picture of the night, or on a dark background. */
  readonly dark: boolean
  /** Quoted text of the prompt, drawn as a title. */
  readonly title: string | null
}

/** Parses a prompt. `key` selects a variant of the same prompt. */
export const planOf = (prompt: string, key: string): Plan => {
  const title = quotedIn(prompt)
  // The words of a title do not select the scene.
  const words = new Words(title === null ? prompt : prompt.replace(title, " "))
  const whole = `${words.list.join(" ")}|${key}`
  const palette = paletteOf(words, whole)
  return {
    key: whole,
    scene: sceneOf(words, whole),
    words,
    palette,
    ramp: new Ramp(palette),
    dark: isDark(words),
    title
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Words that name a subject, and words that describe a mood and count half. */
interface Lexicon {
  readonly subjects: ReadonlyArray<string>
  readonly moods: ReadonlyArray<string>
}

const lexiconOf = (subjects: string, moods: string): Lexicon => ({
  subjects: subjects.split(","),
  moods: moods.split(",")
})

const lexicon: Readonly<Record<SceneName, Lexicon>> = {
  landscape: lexiconOf(
    "mountain,mountains,landscape,hill,hills,valley,lake,forest,desert,dune,dunes,canyon,island,coast,beach,sea,ocean," +
      "river,fjord,meadow,alps,lighthouse,volcano,cliff,glacier",
    "sunset,sunrise,dawn,snow,snowy,horizon,fog,mist,misty"
  ),
  cosmos: lexiconOf(
    "space,galaxy,nebula,planet,cosmos,cosmic,universe,astronaut,orbit,comet,aurora,rocket,alien,saturn,jupiter",
    "stars,star,starry,moon"
  ),
  city: lexiconOf(
    "city,skyline,street,tokyo,york,urban,downtown,skyscraper,skyscrapers,cyberpunk,building,buildings,metropolis,alley," +
      "traffic,apartment",
    "neon,market"
  ),
  bloom: lexiconOf(
    "flower,flowers,blossom,blossoms,rose,roses,petal,petals,bouquet,sakura,cherry,garden,lotus,sunflower,sunflowers," +
      "plant,botanical,butterfly,peony,dahlia,tulip,tulips,orchid",
    "spring,romantic"
  ),
  flow: lexiconOf(
    "abstract,flow,hair,silk,smoke,fluid,dance,marble,swirl,ribbon,ribbons,liquid,fabric,dragon",
    "wind,energy,wave,waves,music,fire,dream,wood"
  ),
  geometry: lexiconOf(
    "geometric,geometry,bauhaus,poster,logo,pattern,icon,cube,product,robot,typography,architecture,circuit,sneaker," +
      "machine,tiles,mosaic",
    "minimal,retro"
  )
}

const sceneNames = ["landscape", "cosmos", "city", "bloom", "flow", "geometry"] as const
const forUnknownWords = ["landscape", "flow", "geometry", "cosmos", "bloom"] as const

const sceneOf = (words: Words, key: string): SceneName => {
  const chance = new Chance(`scene|${key}`)
  const scored = sceneNames.map((name) => ({ name, score: scoreOf(words, lexicon[name]) }))
  const most = Math.max(...scored.map(({ score }) => score))
  // A tie selects the scene that is first in the list, so that a prompt keeps its scene.
  return most === 0 ? chance.pick(forUnknownWords) : scored.find(({ score }) => score === most)?.name ?? "landscape"
}

const scoreOf = (words: Words, { moods, subjects }: Lexicon) => words.count(subjects) + 0.5 * words.count(moods)

const quoted = /"([^"]{1,60})"|“([^”]{1,60})”|«([^»]{1,60})»|(?<!\p{L})'([^']{1,60})'(?!\p{L})/u

/** Returns the first quoted text of a prompt that contains a letter. */
const quotedIn = (prompt: string): string | null => {
  const found = quoted.exec(prompt)
  const text = (found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4] ?? "").replaceAll(/\s+/gu, " ").trim()
  return /[\p{L}\p{N}]/u.test(text) ? text : null
}
