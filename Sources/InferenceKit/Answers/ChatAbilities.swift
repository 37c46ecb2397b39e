import HubChatTemplates
package import HubCore

/// What a model can do in a conversation, by its chat template.
package struct ChatAbilities: Sendable, Hashable {
    /// Whether tools can be offered to it.
    package var callsTools: Bool
    /// Whether it writes its reasoning before its answer.
    package var reasons: Bool
    /// The general template.
    package var template: String

    /// Reads a folder or a file; nil without a template.
    ///
    /// - Throws: What ``ChatTemplates/read(model:)`` throws.
    package init?(model path: String) throws(AIError) {
        guard let templates = try ChatTemplates.read(model: path) else { return nil }
        let template = try templates.template(hasTools: true)
        let format = AnswerFormat(template: template, tokenizer: nil)
        callsTools = format.calls != nil && TemplateTools.areKnown(template, format)
        reasons = format.reasoning != nil || format.calls?.syntax == .channels
        self.template = try templates.template().source
    }
}
