import Foundation
import SwiftData
import Synchronization
import Testing

@Suite struct `An app` {
  @Test(arguments: TestStore.Kind.allCases)
  func `that chats keeps its messages with senders, reactions and attachments`(
    in kind: TestStore.Kind
  ) throws {
    let store = try TestStore(kind, Conversation.self, Participant.self, Message.self)
    let context = store.makeContext()
    let ann = Participant(
      handle: "ann",
      displayName: "Ann",
      avatarURL: URL(string: "https://a.example/1")
    )
    let ben = Participant(handle: "ben", displayName: "Ben")
    let conversation = Conversation(participants: [ann, ben])
    context.insert(conversation)
    let first = conversation.send("Hello", from: ann, at: Date(timeIntervalSince1970: 1))
    let second = conversation.send("Hi", from: ben, at: Date(timeIntervalSince1970: 2))
    second.replyTo = first
    second.react(with: "👍", by: ann)
    second.react(with: "👍", by: ben)
    first.attachment = .location(latitude: 50, longitude: 7)
    first.status = .read
    try context.save()

    let reader = store.makeContext()
    let found = try #require(try reader.fetch(FetchDescriptor<Conversation>()).first)
    #expect(found.displayName == "Ann, Ben")
    #expect(found.sortedMessages.map(\.text) == ["Hello", "Hi"])
    #expect(found.sortedMessages.last?.replyTo?.text == "Hello")
    #expect(found.sortedMessages.first?.replies.map(\.text) == ["Hi"])
    #expect(found.sortedMessages.last?.reactions == [.init(emoji: "👍", handles: ["ann", "ben"])])
    #expect(found.sortedMessages.first?.attachment == .location(latitude: 50, longitude: 7))
    #expect(found.sortedMessages.map(\.status) == [.read, .sending])
    #expect(found.participants.first?.avatarURL == URL(string: "https://a.example/1"))
    let unread = try reader.fetch(Message.unread(in: found.persistentModelID))
    #expect(unread.map(\.text) == ["Hi", "Hello"])
    #expect(try reader.fetch(Message.search("HEL")).map(\.text) == ["Hello"])
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `imports on an actor of its own`(in kind: TestStore.Kind) async throws {
    let store = try TestStore(kind, Conversation.self, Participant.self, Message.self)
    let importer = ChatImporter(modelContainer: store.container)
    let id = try await importer.importMessages([("ann", "one"), ("ben", "two"), ("ann", "three")])
    try await importer.rename(id, to: "Imported")
    let context = store.makeContext()
    let conversation = try #require(context.model(for: id) as? Conversation)
    #expect(conversation.title == "Imported")
    #expect(conversation.messages.count == 3)
    #expect(try context.fetchCount(FetchDescriptor<Participant>()) == 2)
  }

  @MainActor @Test(arguments: TestStore.Kind.allCases)
  func `that takes notes files, tags and throws them away`(in kind: TestStore.Kind) throws {
    let store = try TestStore(kind, NoteFolder.self, Note.self, NoteTag.self, NoteAttachment.self)
    let notes = NoteStore(container: store.container)
    let work = NoteFolder(name: "Work")
    let plans = NoteFolder(name: "Plans", parent: work)
    notes.context.insert(plans)
    #expect(plans.path == "Work/Plans")
    let note = try notes.createNote(title: "Roadmap", in: plans, tags: ["2025", "draft"])
    note.isPinned = true
    note.color = .blue
    note.attachments?.append(NoteAttachment(fileName: "a.txt", data: Data("a".utf8)))
    _ = try notes.createNote(title: "Menu", in: nil, tags: ["draft"])
    try notes.context.save()
    #expect(try notes.pinned().map(\.title) == ["Roadmap"])

    let reader = store.makeContext()
    #expect(try reader.fetchCount(FetchDescriptor<NoteTag>()) == 2)
    let tagged = try reader.fetch(
      FetchDescriptor(predicate: Note.tagged("draft"), sortBy: [SortDescriptor(\.title)])
    )
    #expect(tagged.map(\.title) == ["Menu", "Roadmap"])
    #expect(tagged.last?.folder?.path == "Work/Plans")
    #expect(tagged.last?.color == .blue)
    #expect(tagged.last?.attachments?.first?.data == Data("a".utf8))
    #expect(try reader.fetch(FetchDescriptor(predicate: Note.matching("ROAD"))).count == 1)

    note.deletedAt = .now
    try notes.context.save()
    try notes.emptyTrash()
    let after = store.makeContext()
    #expect(try after.fetch(FetchDescriptor(predicate: Note.visible)).map(\.title) == ["Menu"])
    #expect(try after.fetchCount(FetchDescriptor<NoteAttachment>()) == 0)
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `that counts money adds it up exactly`(in kind: TestStore.Kind) throws {
    let store = try TestStore(
      kind,
      BankAccount.self,
      AccountTransaction.self,
      BudgetCategory.self,
      Receipt.self
    )
    let context = store.makeContext()
    let account = BankAccount(iban: "DE00", name: "Main", kind: .savings, openingBalance: 100)
    account.creditLimit = Money(amount: 500)
    let food = BudgetCategory(name: "Food", monthlyLimit: 300)
    context.insert(account)
    let day = Date(timeIntervalSinceReferenceDate: 0)
    for index in 0..<10 {
      account.transactions.append(
        AccountTransaction(
          date: day.addingTimeInterval(Double(index)),
          amount: Decimal(string: "-0.1") ?? 0,
          category: index < 4 ? food : nil
        )
      )
    }
    try context.save()

    let reader = store.makeContext()
    let found = try #require(try reader.fetch(FetchDescriptor<BankAccount>()).first)
    #expect(found.balance == 99)
    #expect(found.kind == .savings)
    #expect(found.creditLimit == Money(amount: 500))
    let report = try MonthlyReport(context: reader, from: day, to: day.addingTimeInterval(6))
    #expect(report.totals == ["Food": Decimal(string: "-0.4"), "Other": Decimal(string: "-0.2")])
    let large = AccountTransaction.large(over: -1, in: "Main")
    #expect(try reader.fetchCount(FetchDescriptor(predicate: large)) == 10)
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `that records workouts keeps values within values`(in kind: TestStore.Kind) throws {
    let store = try TestStore(kind, Workout.self, ExerciseSet.self, TrainingPlan.self)
    let context = store.makeContext()
    let workout = Workout.start(.cycling(distance: 40, climb: 600))
    workout.heartRate = .init(average: 130, maximum: 171, zones: [.init(lower: 100, upper: 140)])
    workout.route = [[50.1, 7.2], [50.2, 7.3]]
    workout.laps.append(300)
    workout.start = RoutePoint(latitude: 50.1, longitude: 7.2)
    workout.sets = [ExerciseSet(exercise: "squat", repetitions: 5, weight: 80)].compactMap { $0 }
    let plan = try TrainingPlan(name: "Spring", weeks: [.init(number: 1, goals: ["km": 40])])
    plan.workouts.append(workout)
    context.insert(plan)
    workout.finish(at: workout.startedAt.addingTimeInterval(60))
    try context.save()
    #expect(throws: PlanError.missingName) { try TrainingPlan(name: "") }
    #expect(ExerciseSet(exercise: "none", repetitions: 0) == nil)

    let found = try #require(try store.makeContext().fetch(FetchDescriptor<Workout>()).first)
    #expect(found.activity == .cycling(distance: 40, climb: 600))
    #expect(found.heartRate?.zones == [.init(lower: 100, upper: 140)])
    #expect(found.route == [[50.1, 7.2], [50.2, 7.3]])
    #expect(found.laps == [300])
    #expect(found.effort == 0.5)
    #expect(found.start?.longitude == 7.2)
    #expect(found.sets.first?.volume == 400)
    #expect(found.plan?.weeks.first?.goals == ["km": 40])
    #expect(found.duration == 60)
  }

  @Test func `is notified of changes to a model that its own object holds`() {
    let live = LiveWorkout(Workout(activity: .strength))
    let changes = Mutex(0)
    let track = {
      withObservationTracking {
        _ = live.text
      } onChange: {
        changes.withLock { $0 += 1 }
      }
    }
    track()
    live.workout.liveHeartRate = 120
    #expect(changes.withLock { $0 } == 1)
    track()
    live.isPaused = true
    #expect(changes.withLock { $0 } == 2)
    #expect(live.text == "120 bpm (paused)")
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `of tasks filters, sorts and counts them`(in kind: TestStore.Kind) throws {
    let store = try TestStore(kind, TodoList.self, TodoItem.self)
    let context = store.makeContext()
    let due = Date(timeIntervalSinceReferenceDate: 0)
    let list = TodoList(
      name: "Home",
      items: [
        TodoItem("wash", due: due, priority: .high), TodoItem("cook"),
        TodoItem("pay", due: due.addingTimeInterval(60)),
      ]
    )
    context.insert(list)
    list.items[1].toggle()
    list.items[2].repeat = .init(every: 2)
    list.items[0].subtasks += ["sort", "dry"]
    try context.save()
    #expect(list.items.sorted().map(\.title) == ["wash", "pay", "cook"])

    let reader = store.makeContext()
    #expect(try overdue(in: reader, at: due.addingTimeInterval(30)) == 1)
    let open = try reader.fetch(
      FetchDescriptor(
        predicate: TodoFilter().predicate,
        sortBy: [SortDescriptor(\.dueDate, order: .reverse)]
      )
    )
    #expect(open.map(\.title) == ["pay", "wash"])
    #expect(open.first?.repeat?.every == 2)
    #expect(open.last?.subtasks == ["sort", "dry"])
    #expect(open.last?.priority == .high)
    #expect(open.first?.list?.progress == 1.0 / 3.0)
  }

  @Test(arguments: TestStore.Kind.allCases)
  func `with repositories works on any model`(in kind: TestStore.Kind) throws {
    let store = try TestStore(
      kind,
      LibraryBook.self,
      LibraryAuthor.self,
      Loan.self,
      LibraryReader.self
    )
    let books = BookRepository(context: store.makeContext())
    let json = Data(#"{"isbn": "1", "title": "t zero"}"#.utf8)
    let decoded = try JSONDecoder().decode(LibraryBook.self, from: json)
    let other = LibraryBook(isbn: "2", title: "Cosmicomics", year: 1965)
    books.add(decoded, other)
    other.authors.append(LibraryAuthor(name: "Calvino"))
    let reader = LibraryReader(name: "Kim")
    reader.favourites = ["1"]
    books.context.insert(Loan(book: other, reader: reader))
    try books.context.save()
    #expect(try books.count() == 2)
    #expect(
      try books.all(sortedBy: [SortDescriptor(\.title)]).map(\.title) == ["Cosmicomics", "t zero"]
    )
    #expect(try books.lent().map(\.isbn) == ["2"])
    #expect(try books.first(where: #Predicate { $0.year == 0 })?.shelf == "A")

    let context = store.makeContext()
    let found: LibraryBook? = try context.existingModel(for: other.persistentModelID)
    #expect(found?.authors.map(\.name) == ["Calvino"])
    #expect(found?.loans.first?.reader?.favourites == ["1"])
    let encoded = try JSONEncoder().encode(try #require(found))
    #expect(try JSONDecoder().decode(LibraryBook.self, from: encoded).year == 1965)
  }
}
