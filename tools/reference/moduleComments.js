import { Comment, Converter, MinimalSourceFile, ReflectionKind } from "typedoc"

/**
 * Makes TypeDoc take the comment at the begin of a file as that of its module. By itself it takes only those with the tag
 * `@module`.
 *
 * @param {import("typedoc").Application} app
 */
export const moduleComments = ({ converter, files }) => {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module) || reflection.hasComment()) return
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile()
    const comment = file?.text.match(/^\/\*\*(.*?)\*\//s)?.[1]
    if (comment === undefined) return
    const markdown = comment.replaceAll(/^ \* ?/gm, "").trim()
    const { content } = converter.parseRawComment(new MinimalSourceFile(markdown, file.fileName), files)
    reflection.comment = new Comment(content)
  })
}
