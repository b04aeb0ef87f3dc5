import Foundation
import Harness

runGroup("Texts") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let noteCount = plan.choose(quick: 100_000, full: 1_000_000)
  let documentCount = plan.choose(quick: 500, full: 5000)
  try withFolder(plan, "texts") { folder in
    var stores: [any TextStore] = [try ModelTexts(folder.appending(path: "log"))]
    #if SQLITE
    stores.append(try SQLiteTexts(folder.appending(path: "texts.sqlite")))
    #endif
    var texts = Texts()
    let notes = texts.make(noteCount, wordCount: 12)
    // Some 20 KB each.
    let documents = texts.make(documentCount, wordCount: 2500)
    for store in stores {
      try store.addNotes(notes)
      try store.addDocuments(documents)
    }
    try TextQuestions(
      plan: plan,
      noteCount: noteCount,
      documentCount: documentCount,
      texts: texts
    ).run(report, stores)
  }
}
