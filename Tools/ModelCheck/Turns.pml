/*
 * Turns: several processes append to one log, each while it has the turn; others read beside them.
 *
 * A commit is two frames in one segment. Members are killed after any step and join again; the power fails at any
 * step. Beside each step stands its number in the protocol of turns: T1 to T7 of a turn, R for what a member does after
 * another died in its turn, J for joining. Members.pml shows how a member knows that it is the first; here it does.
 *
 * Frames are bytes: the number of the commit that they are of, and 8 in the second. `dirty` is what the system owes the
 * disk, as masks: frame k of a segment is bit k, the header is bit 7. Of that, and of names that log/ was not
 * synchronized for, a power cut keeps any part.
 *
 *   -DKEYS        members reserve keys, and use them in a later turn, too
 *   -DFAILURES    a synchronization fails: the system forgets what it owed, and the member ends without the record
 *   -DREADER      a member that only reads, between turns, beside two that write; readers change nothing, so one is
 *                 enough
 *   -DPOWER=n     how often the power fails (0)
 *   -DPLANT_…     a planted fault; see Faults
 */
#define FRAMES 4
#ifndef SEGMENTS
#define SEGMENTS 4
#endif
#ifndef COMMITS
#define COMMITS 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef READS
#define READS 2
#endif
#ifndef TURNS
#define TURNS 4
#endif
#ifndef POWER
#define POWER 0
#endif
#define HEADER 128
#define NONE 15

#define bit(number) (1 << (number))
#define me bit(_pid)
#define frames(count) (bit(count) - 1)
#define frame(file, number) content[(file) * FRAMES + (number)]
#define second(commit) ((commit) | 8)
#define hasWhole(file, at) ((at) < FRAMES && frame(file, at) != 0 && frame(file, (at) + 1) == second(frame(file, at)))
#define written(file) ((frame(file, 0) != 0) | (frame(file, 1) != 0) << 1 | (frame(file, 2) != 0) << 2 | \
  (frame(file, 3) != 0) << 3)

/* The disk. */
byte names, durableNames;       /* of segments, in log/ */
byte headers;                   /* which segments have one */
byte content[SEGMENTS * FRAMES];
byte dirty[SEGMENTS], durable[SEGMENTS];
byte previous[SEGMENTS], previousEnd[SEGMENTS];

/* TURN: the lock, and the record. */
byte turn = NONE;
#ifdef READER
byte recordTurns;
#else
byte recordTurns = 9;
#endif
byte recordHolder = NONE, recordNext, recordSegment = NONE, recordEnd;
bool recordIsEnded;
#ifdef KEYS
byte recordKey;
#endif

/* Who is there (see Members). */
#ifdef READER
byte members = 1;
#else
byte members;
#endif

/* What is true: the commits in their order; how many were acknowledged; which numbers were given to files. */
byte history[COMMITS + 1];
byte acknowledged, given;
#ifdef KEYS
byte keyOf[COMMITS + 1];
byte keysGiven;
#endif

byte commits, deaths, turns, failures;
bool powerFailed, mayBeLost;

inline mayDie()
{
  if
  :: skip
  :: deaths < DEATHS -> deaths++; goto died
  fi
}

#if POWER > 0
inline owe(file, bits) { dirty[file] = dirty[file] | (bits) }
inline synchronize(file) { d_step { durable[file] = durable[file] | dirty[file]; dirty[file] = 0 } }
/* Of log/ */
inline synchronizeNames() { durableNames = names }
#else
inline owe(file, bits) { skip }
inline synchronize(file) { skip }
inline synchronizeNames() { skip }
#endif

/* Takes in the whole commits from `segment` and `end` on; nobody appends meanwhile. */
inline catchUp()
{
  i = 0;
  do
  :: segment != NONE && hasWhole(segment, end) && (following == NONE || end < previousEnd[following]) ->
    assert(history[sequence] == frame(segment, end));
    sequence++;
    end = end + 2
  :: else ->
    following = NONE;
    i = (segment == NONE -> 0 : segment + 1);
    do
    :: i < SEGMENTS && following == NONE -> if :: names & headers & bit(i) -> following = i :: else fi; i++
    :: else -> break
    od;
    if
    :: following == NONE -> break
    :: else ->
      assert(previous[following] == segment);
      /* What the successor says was there is there, and nothing that was read is behind it. */
      assert(segment == NONE || end == previousEnd[following] ||
        (end < previousEnd[following] && hasWhole(segment, end)));
      if
      :: segment == NONE || end == previousEnd[following] -> segment = following; end = 0; following = NONE
      :: else
      fi
    fi
  od;
  i = 0
}

/* The lowest number that no file in log/ has, nor had. */
inline findNext(atLeast)
{
  next = atLeast;
  i = 0;
  do
  :: i < SEGMENTS -> if :: (names & bit(i)) && i >= next -> next = i + 1 :: else fi; i++
  :: else -> break
  od;
  i = 0
}

/* R, and what the first does. What has a header has a name on disk: log/ need not be synchronized. */
inline repair()
{
#ifndef PLANT_BLANK_SEGMENT_STAYS
  atomic { names = names & headers; mayDie() };
#endif
#if POWER > 0
  d_step {
#ifndef PLANT_REPAIR_DOES_NOT_REWRITE
    /* Again from the last end that is on disk for sure; before it everything is. */
    i = (first == NONE -> 0 : first);
    do
    :: i < SEGMENTS && segment != NONE && i <= segment ->
      if
      :: names & bit(i) -> dirty[i] = dirty[i] | HEADER | (frames((i == segment -> end : FRAMES)) & written(i))
      :: else
      fi;
      i++
    :: else -> break
    od;
#endif
    i = (first == NONE -> 0 : first)
  };
#endif
#if POWER > 0 && !defined(PLANT_REPAIR_DOES_NOT_SYNC)
  do
  :: segment != NONE && i <= segment ->
    atomic { synchronize(i); i++; mayDie() }
  :: else -> break
  od;
#endif
  atomic {
    i = 0; first = NONE;
#ifndef PLANT_TORN_SEGMENT_APPENDED_TO
    isEnded = (segment != NONE)
#endif
  }
}

/* T2 */
inline readRecord() { holder = recordHolder; first = recordSegment }

/* T3 and T4 */
inline takeOver()
{
  /* T3 */
#ifndef PLANT_HOLDER_NOT_RECORDED
  atomic { recordHolder = _pid; mayDie() };
#endif
  /* T4 */
  d_step {
#ifdef PLANT_DEATH_NOT_ASKED_FOR
    if
    :: recordTurns != left ->
#else
    if
    :: recordTurns != left || holder != NONE ->
#endif
      catchUp();
      isEnded = recordIsEnded
    :: else
    fi;
    next = recordNext
  };
#ifndef PLANT_NO_REPAIR
  if
  :: holder != NONE ->
#ifndef PLANT_NUMBERS_OF_FILES_NOT_LOOKED_FOR
    /* Before anything is removed. */
    d_step { findNext(recordNext) };
#ifndef PLANT_NEXT_NOT_RECORDED_BEFORE_REMOVAL
    atomic { recordNext = next; mayDie() };
#endif
#endif
    repair();
    holder = NONE
  :: else
  fi;
#endif
  /* Everything is known. */
  d_step {
    holder = NONE; first = NONE;
    assert(history[sequence] == 0);
    assert(!(names & ~headers))
  }
}

/* T6 and T7 */
inline endTurn()
{
#ifndef PLANT_RECORD_NOT_WRITTEN
  /* A reader may see the one without the other. */
  d_step {
    recordTurns++;
#ifndef PLANT_NEXT_NOT_IN_RECORD
    recordNext = next;
#endif
    recordSegment = segment; recordEnd = end;
#ifndef PLANT_TORN_END_NOT_IN_RECORD
    recordIsEnded = isEnded;
#endif
    left = recordTurns
  };
#endif
#ifdef KEYS
#ifdef PLANT_KEYS_RESERVED_AT_END
  if :: hasKey && recordKey <= key -> recordKey = key + 1 :: else fi;
#endif
#endif
  mayDie();
  recordHolder = NONE;
  atomic { turn = NONE; next = 0 }
}

/* T5: the next segment, named, with a header that says where its predecessor ended. */
inline beginSegment()
{
  atomic {
    number = next; next++;
    /* A number is given once. */
    assert(!(given & bit(number)));
    given = given | bit(number); names = names | bit(number);
    mayDie()
  };
#ifndef PLANT_SEGMENT_NAME_NOT_SYNCED
  atomic { synchronizeNames(); mayDie() };
#endif
  if
  :: atomic { segment != NONE -> synchronize(segment); mayDie() }
  :: segment == NONE
  fi;
  atomic {
    previous[number] = segment; previousEnd[number] = end;
    headers = headers | bit(number); owe(number, HEADER);
    mayDie()
  };
  atomic { synchronize(number); segment = number; end = 0; isEnded = false; number = 0; mayDie() }
}

/* T5 */
inline commit()
{
  atomic {
    commits++; id = commits;
    #ifndef PLANT_TORN_SEGMENT_APPENDED_TO
    /* What was written does not change. */
    assert(frame(segment, end) == 0 && frame(segment, end + 1) == 0);
#endif
    frame(segment, end) = id; owe(segment, bit(end));
#ifdef KEYS
    keyOf[id] = key + 1; hasKey = false; key = 0;
#endif
    mayDie()
  };
  atomic {
    frame(segment, end + 1) = second(id); owe(segment, bit(end + 1));
    assert(history[sequence] == 0);
    history[sequence] = id;
    sequence++; end = end + 2; id = 0;
    mayDie()
  };
#ifndef PLANT_NO_SYNC
#ifdef FAILURES
  if
  :: synchronize(segment)
  :: failures < 1 -> atomic { failures++; dirty[segment] = 0; goto died }
  fi;
#else
  synchronize(segment);
#endif
#endif
  atomic { acknowledged = sequence; mayDie() }
}

/* J, by the first: Recovery.run(), Recovery.repair(_:) */
inline recover()
{
  d_step {
    segment = NONE; end = 0; sequence = 0; following = NONE;
    /* No segment with a header comes after one without. */
    i = 0;
    do
    :: i < SEGMENTS ->
      assert(!(names & headers & bit(i)) || ((names & ~headers) & frames(i)) == 0);
      i++
    :: else -> break
    od;
    catchUp();
    assert(sequence >= acknowledged);
    assert(mayBeLost || history[sequence] == 0);
    i = sequence;
    do
    :: i <= COMMITS -> history[i] = 0; i++
    :: else -> break
    od;
    mayBeLost = false;
    findNext(0);
    /* Nobody is there who knew the others. */
    given = names;
    first = NONE; holder = NONE
  };
  mayDie();
  repair();
  d_step {
    acknowledged = sequence;
#ifdef KEYS
    recordKey = 0; keysGiven = 0;
    i = 0;
    do
    :: i < sequence ->
      assert(!(keysGiven & bit(keyOf[history[i]] - 1)));
      keysGiven = keysGiven | bit(keyOf[history[i]] - 1);
      if :: keyOf[history[i]] > recordKey -> recordKey = keyOf[history[i]] :: else fi;
      i++
    :: else -> break
    od;
    i = 0;
#endif
    recordTurns = 0
  }
}

proctype Writer()
{
  byte segment = NONE, end, sequence, left = NONE, next, number, id, i, holder = NONE, first = NONE, following = NONE;
  bool isEnded;
#ifdef KEYS
  byte key;
  bool hasKey;
#endif
  {
#ifdef READER
    atomic { left = 0; goto joined };
#else
    skip;
#endif
join:
    /* J */
    atomic { turn == NONE -> turn = _pid; readRecord() };
    if
    :: members == 0 -> recover()
    :: else -> takeOver()
    fi;
    members = members | me;
    endTurn();
joined:
    do
    :: turns < TURNS && commits < COMMITS ->
      mayDie();
      /* T1 */
      atomic { turn == NONE -> turn = _pid; turns++; readRecord() };
      takeOver();
      /* T5 */
      do
#ifdef KEYS
      :: !hasKey && commits < COMMITS ->
#ifdef PLANT_KEYS_RESERVED_AT_END
        atomic { key = recordKey;
#else
        atomic { key = recordKey; recordKey++;
#endif
          hasKey = true;
          assert(!(keysGiven & bit(key)));
          keysGiven = keysGiven | bit(key);
          mayDie() }
      :: hasKey && commits < COMMITS && segment != NONE && !isEnded && end < FRAMES -> commit(); break
#else
      :: commits < COMMITS && segment != NONE && !isEnded && end < FRAMES -> commit(); break
#endif
      :: next < SEGMENTS && (segment == NONE || isEnded || end == FRAMES) -> beginSegment()
      :: break
      od;
      endTurn()
#ifdef READER
    :: else -> break
#else
    :: break
#endif
    od;
    /* Leaving; nothing remains to be done but by the last. */
    members = members & ~me;
    goto left_;
died:
    atomic {
      members = members & ~me;
      if :: turn == _pid -> turn = NONE :: else fi;
      segment = NONE; end = 0; sequence = 0; left = NONE; next = 0; number = 0; id = 0; i = 0; holder = NONE;
      first = NONE; following = NONE; isEnded = false;
#ifdef KEYS
      key = 0; hasKey = false;
#endif
    };
#ifndef READER
    goto join;
#endif
left_:
    skip
  } unless { powerFailed }
}

/* Between turns: a member that reads as a follower does. It is there from beginning to end. */
#ifdef READER
proctype Reader()
{
  byte segment = NONE, end, sequence, known = NONE, before, id, following = NONE, i, reads;
  bool isBusy, isKnown;
  {
    do
    :: reads < READS ->
      /* Is there anything to read? */
#ifdef PLANT_TURNS_READ_BEFORE_HOLDER
      atomic { reads++; before = acknowledged; isKnown = (recordTurns == known); known = recordTurns };
      atomic { if :: recordHolder != NONE -> isKnown = false; known = NONE :: else fi };
#else
      atomic { reads++; before = acknowledged; isBusy = (recordHolder != NONE) };
      atomic { isKnown = (!isBusy && recordTurns == known); known = (isBusy -> NONE : recordTurns); isBusy = false };
#endif
      if
      :: isKnown
      :: else ->
        do
        :: atomic { segment != NONE && end < FRAMES && frame(segment, end) != 0 &&
            (following == NONE || end < previousEnd[following]) -> id = frame(segment, end) };
          /* Each frame is read by itself. */
          if
          :: atomic { frame(segment, end + 1) != 0 ->
              assert(frame(segment, end + 1) == second(id));
              assert(history[sequence] == id);
              sequence++; end = end + 2; id = 0 }
          :: atomic { frame(segment, end + 1) == 0 -> id = 0 }; goto successor
          fi
        :: else ->
successor:
          atomic {
            following = NONE;
            i = (segment == NONE -> 0 : segment + 1);
            do
            :: i < SEGMENTS && following == NONE -> if :: names & headers & bit(i) -> following = i :: else fi; i++
            :: else -> break
            od;
            i = 0;
            if
            :: following == NONE -> break
            :: else
            fi;
            assert(previous[following] == segment);
#ifndef PLANT_READER_GOES_ON_TOO_SOON
            assert(segment == NONE || end <= previousEnd[following]);
            if
            :: segment == NONE || end == previousEnd[following] -> segment = following; end = 0; following = NONE
            /* More came since it looked. */
            :: else -> assert(hasWhole(segment, end))
            fi
#else
            segment = following; end = 0; following = NONE
#endif
          }
        od
      fi;
      /* What was acknowledged before is seen. */
      atomic { assert(sequence >= before); before = 0; isKnown = false }
    :: else -> break
    od
  } unless { powerFailed }
}
#endif

inline begin()
{
  atomic {
    run Writer();
    run Writer();
#ifdef READER
    run Reader();
#endif
  }
}

/* Of what was not synchronized, a power cut keeps any part. */
inline powerCut()
{
  i = 0;
  do
  :: i < SEGMENTS ->
    j = 0;
    do
    :: j < 8 ->
      if
      :: dirty[i] & bit(j) -> if :: durable[i] = durable[i] | bit(j) :: skip fi
      :: else
      fi;
      j++
    :: else -> break
    od;
    if
    :: ((names ^ durableNames) & bit(i)) -> if :: durableNames = durableNames ^ bit(i) :: skip fi
    :: else
    fi;
    i++
  :: else -> break
  od;
  skip;
  d_step {
    names = durableNames;
    i = 0;
    do
    :: i < SEGMENTS ->
      dirty[i] = 0;
      if :: !(names & bit(i)) -> durable[i] = 0 :: else fi;
      if :: !(durable[i] & HEADER) -> headers = headers & ~bit(i); previous[i] = 0; previousEnd[i] = 0 :: else fi;
      j = 0;
      do
      :: j < FRAMES -> if :: !(durable[i] & bit(j)) -> frame(i, j) = 0 :: else fi; j++
      :: else -> break
      od;
      i++
    :: else -> break
    od;
    i = 0; j = 0;
    turn = NONE; members = 0; powerFailed = false; mayBeLost = true
  }
}

init
{
  byte i, j, power;
  begin();
  do
  :: power < POWER ->
    power++;
    powerFailed = true;
    _nr_pr == 1;
    atomic { powerCut(); begin() }
  :: _nr_pr == 1 -> break
  od
}
