/**
 * The words that comments, docstrings, messages, test names and documents of this repository avoid.
 *
 * `CONTRIBUTING.md` has the positive rules. These patterns are the idioms that were removed once.
 */

/** A passage to rewrite. */
export interface ProseProblem {
  /** Offset in the text that was checked. */
  readonly offset: number
  readonly message: string
}

interface Rule {
  readonly pattern: RegExp
  readonly message: string
}

const decisions: ReadonlyArray<Rule> = [
  {
    pattern: /\bD\d{1,2}[a-z]?\b(?!-)/g,
    message: "No reader can look up a decision's number: state the behaviour, or link to docs/reference."
  },
  {
    pattern: /\binterface\.md\b/g,
    message: "This file is not part of the repository: state the behaviour, or link to docs/reference."
  }
]

const idioms: ReadonlyArray<Rule> = [
  /\b(?:is|are|be|was|were|been) told\b/gi,
  /\b(?:is|are) (?:not )?there (?:when|if|once)\b/gi,
  /\b(?:is|are|was|were) away\b/gi,
  /\b(?:go|goes|went) away\b/gi,
  /\b(?:is|are) gone\b/gi,
  /\bgo(?:es)? on\b(?! and off)/gi,
  /\b(?:is|are|be|was|were) (?:already |still )?there(?: already)?(?=[.,;:)])/gi,
  /\bas it is\b/gi,
  /\bwhat (?:became|becomes) of\b/gi,
  /\b(?:became|become|becomes) of\b/gi,
  /(?<!\bthere\s+(?:\*\s+)?)\b(?:is|are) no (?!(?:longer|more|less|other|better|worse|faster|slower|larger|smaller|later|earlier|higher|lower)\b)[a-z][\w-]*/gi,
  /\b(?:has|have) had\b/gi,
  /\b(?:is|are) dear\b/gi,
  /\bthat is to say\b/gi,
  /\bbut for\b/gi,
  /\bis another now\b/gi,
  /\blives? no more\b/gi,
  /\bfor want of\b/gi,
  /\ba (?:thousand|million) millions?\b/gi,
  /\b(?:is|are) to become\b/gi,
  /\bas (?:many|much|few|little) [^.]{0,60} as may\b/gi,
  /\bwait(?:s|ed|ing)? for somebody\b/gi,
  /\b(?:to|of) whom\b/gi,
  /\bfor good\b(?! reason)/gi,
  /\blets\b/g,
  /\b(?:a|two|each|another|most|one|between) looks?\b(?!-)/gi,
  /\bin vain\b/gi,
  /(?<!\b(?:until|since|by) )(?<=[a-z`)] )then(?=[.;:])/gi,
  /\b(?:(?:do|does|did|must|may|can) not|never) answer(?:s|ed)?\b/gi,
  /\b(?:it|which|endpoints?|receivers?|server|upstream|database|network) answer(?:s|ed)\b/gi,
  /(?<!\b(?:who|nobody|else|everybody|anyone|person|body) )\bknows\b/gi,
  /\bhow(?:ever)? it (?:came|comes) about\b/gi,
  /\bleaves? (?:it|them|him|her) alone\b/gi
].map((pattern) => ({ pattern, message: "An idiom: name the subject and use the verb of the field." }))

const openings: ReadonlyArray<Rule> = [
  {
    pattern: /(?<=^[\s*/]*)(?:What|Who|Whom|Whose|Says|Tells|Lets|Whether it may)(?= )|\bAbsent: /gm,
    message: "A comment begins with what the thing does or is: a verb in the third person, or a noun phrase."
  }
]

/** Not of messages, which quote people, who say and tell. */
const personified: ReadonlyArray<Rule> = [
  {
    pattern: /\b(?:says|tells|(?:(?:do|does|did|can) not|can|cannot) (?:say|tell))\b/g,
    message: "Only people say and tell: a thing has, returns, contains or determines."
  }
]

/** Problems of a comment, with or without its delimiters. */
export const inComment = (text: string): ReadonlyArray<ProseProblem> =>
  search([...openings, ...personified, ...idioms, ...decisions], text)

/** Problems of a message, a log line or a test name. */
export const inMessage = (text: string): ReadonlyArray<ProseProblem> => search([...idioms, ...decisions], text)

/** Problems of a Markdown document, outside of its code. */
export const inDocument = (text: string): ReadonlyArray<ProseProblem> =>
  search([...personified, ...idioms, ...decisions], text.replace(code, (match) => " ".repeat(match.length)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Fenced blocks and inline code. */
const code = /^(```+)[^]*?^\1`*$|`[^`\n]+`/gm

const search = (rules: ReadonlyArray<Rule>, text: string): ReadonlyArray<ProseProblem> =>
  rules
    .flatMap(({ message, pattern }) =>
      [...text.matchAll(pattern)].map((match) => ({ offset: match.index, message: `"${match[0]}": ${message}` }))
    )
    .toSorted((a, b) => a.offset - b.offset)
