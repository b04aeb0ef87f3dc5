import Foundation
import SwiftData

// A chat app: people, conversations, messages, attachments.

@Model
final class Conversation {
  @Attribute(.unique) var id: UUID
  var title: String?
  private(set) var createdAt: Date
  var lastMessageAt: Date?
  var isMuted: Bool = false
  var isArchived = false

  @Relationship(inverse: \Participant.conversations)
  var participants: [Participant]

  @Relationship(deleteRule: .cascade, inverse: \Message.conversation)
  var messages: [Message] = []

  init(title: String? = nil, participants: [Participant]) {
    self.id = UUID()
    self.createdAt = Date()
    self.title = title
    self.participants = participants
  }

  var displayName: String {
    title ?? participants.map(\.displayName).sorted().joined(separator: ", ")
  }

  var sortedMessages: [Message] {
    messages.sorted { $0.sentAt < $1.sentAt }
  }

  @discardableResult
  func send(_ text: String, from sender: Participant, at date: Date = .now) -> Message {
    let message = Message(text: text, sender: sender, sentAt: date)
    messages.append(message)
    lastMessageAt = date
    return message
  }
}

@Model
final class Participant {
  @Attribute(.unique) var handle: String
  var displayName: String
  var avatarURL: URL?
  @Attribute(.externalStorage) var avatar: Data?
  var conversations: [Conversation] = []

  init(handle: String, displayName: String, avatarURL: URL? = nil) {
    self.handle = handle
    self.displayName = displayName
    self.avatarURL = avatarURL
  }
}

@Model
final class Message: Identifiable {
  enum Status: Int, Codable, CaseIterable, Comparable {
    case sending, sent, delivered, read, failed

    static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  struct Reaction: Codable, Hashable {
    var emoji: String
    var handles: Set<String>
  }

  enum Attachment: Codable, Equatable {
    case image(url: URL, width: Int, height: Int)
    case audio(duration: TimeInterval)
    case location(latitude: Double, longitude: Double)
  }

  #Index<Message>([\.sentAt])

  var id = UUID()
  var text: String
  var sentAt: Date
  var editedAt: Date?
  var status: Status = Status.sending
  var reactions: [Reaction] = []
  var attachment: Attachment?
  var conversation: Conversation?
  var sender: Participant?
  @Relationship(deleteRule: .nullify, inverse: \Message.replies) var replyTo: Message?
  var replies: [Message] = []

  @Transient var isHighlighted = false

  init(text: String, sender: Participant?, sentAt: Date = .now) {
    self.text = text
    self.sender = sender
    self.sentAt = sentAt
  }

  func react(with emoji: String, by participant: Participant) {
    if let index = reactions.firstIndex(where: { $0.emoji == emoji }) {
      reactions[index].handles.insert(participant.handle)
    } else {
      reactions.append(Reaction(emoji: emoji, handles: [participant.handle]))
    }
  }
}

extension Message {
  static func unread(in conversationID: PersistentIdentifier) -> FetchDescriptor<Message> {
    var descriptor = FetchDescriptor<Message>(
      predicate: #Predicate { message in
        message.conversation?.persistentModelID == conversationID && message.editedAt == nil
      },
      sortBy: [SortDescriptor(\.sentAt, order: .reverse)]
    )
    descriptor.fetchLimit = 50
    descriptor.relationshipKeyPathsForPrefetching = [\.sender]
    return descriptor
  }

  static func search(_ term: String) -> FetchDescriptor<Message> {
    FetchDescriptor(
      predicate: #Predicate<Message> { $0.text.localizedStandardContains(term) },
      sortBy: [.init(\.sentAt)]
    )
  }
}

@ModelActor
actor ChatImporter {
  func importMessages(_ lines: [(handle: String, text: String)]) throws -> PersistentIdentifier {
    let handles = Set(lines.map(\.handle))
    let people = handles.sorted().map { Participant(handle: $0, displayName: $0.capitalized) }
    let conversation = Conversation(participants: people)
    modelContext.insert(conversation)
    for line in lines {
      guard let sender = people.first(where: { $0.handle == line.handle }) else { continue }
      conversation.send(line.text, from: sender)
    }
    try modelContext.save()
    return conversation.persistentModelID
  }

  func rename(_ id: PersistentIdentifier, to title: String) throws {
    guard let conversation = self[id, as: Conversation.self] else { return }
    conversation.title = title
    try modelContext.save()
  }
}
