# One visit of an example in a pass: its searches, its losses, the coefficients of its step, the step, the count.

cdef struct Data:                       # what the visits of one pass read; NULL: as if it were not there
    const int *codes                    # gold outputs, and
    const int64_t *starts               # where each begins, if not all have one integer
    const int64_t *order                # the examples to visit
    const double *sample_weight
    int *record                         # receives the labels predicted
    Py_ssize_t n                        # visits of the pass


cdef struct Visit:                      # one example
    Py_ssize_t i                        # its number
    Encoded gold, y                     # y: what the rule learns from
    double loss, cost                   # loss: of y; cost: what the record counts
    int same, right                     # whether y, and the prediction, agree with the gold output


cdef inline int scored(Weights weights, Example x, double *s) noexcept nogil:
    """Atom scores of one example; NOT_FINITE when one of them is not finite."""
    if weights.scores_c(x, s) < 0:
        return SCORING
    return 0 if sp_finite(s, x.n_atoms) else NOT_FINITE


cdef inline int read_example(Loop loop, const Data *data, Py_ssize_t t, Visit *v) noexcept nogil:
    """Makes x the t-th example of the order, and requests the rows of later ones from memory."""
    cdef Py_ssize_t far, n_atoms
    v.i = t if data.order == NULL else data.order[t]
    loop.rows.load(v.i, loop.x)
    if t == loop.ahead:
        loop.ahead = loop.weights.look_ahead_c(loop.rows, data.order, t, data.n)
        if loop.ahead < 0:
            return LOOKING_AHEAD
    if data.order != NULL and t + AHEAD < data.n:
        far = data.order[t + AHEAD]
        loop.rows.load(far, loop.far_x)
        sp_prefetch_rows(&loop.far_x.block)
        if data.starts == NULL:
            SP_PREFETCH(data.codes + far)
    if loop.features.n_weight_rows > 1 and t + 1 < data.n:
        loop.rows.load(t + 1 if data.order == NULL else data.order[t + 1], loop.next_x)
        loop.weights.prefetch_c(loop.next_x)
    if loop.features.fixed_atoms < 0:
        n_atoms = loop.features.n_atoms_c(loop.x)
        if n_atoms < 0:
            return ATOMS
        if n_atoms > loop.most_atoms or n_atoms != loop.label_atoms >= 0:
            return TOO_MANY
        loop.x.n_atoms = n_atoms
    v.gold.at = data.codes + (v.i if data.starts == NULL else data.starts[v.i])
    v.gold.n = 1 if data.starts == NULL else data.starts[v.i + 1] - data.starts[v.i]
    return 0


cdef inline int search(Loop loop, const Data *data, Py_ssize_t t, Visit *v) noexcept nogil:
    """Makes the searches that the rule asks for, and compares their results with the gold output."""
    v.right, v.cost = 1, 0
    if loop.predicts_first or loop.keeps:
        v.y.at, v.y.n = &loop.predicted[0], loop.argmax.argmax_c(loop.x, &loop.scores[0], &loop.predicted[0])
        if v.y.n < 0:
            return SEARCHING
        if data.record != NULL:
            data.record[t] = v.y.at[0]
        loop.n_predicted = v.y.n
    if loop.predicts_first:
        v.same = judged(loop, v, v.y.at, v.y.n, &v.loss)
        if v.same < 0:
            return v.same
        v.right, v.cost = v.same, v.loss
    return search_with_loss(loop, v) if loop.augments else 0


cdef inline int search_with_loss(Loop loop, Visit *v) noexcept nogil:
    """The loss-augmented search. The prediction comes after it if the rule skips it for right results."""
    memcpy(&loop.augmented[0], &loop.scores[0], loop.x.n_atoms * sizeof(double))
    v.y.at = &loop.searched[0]
    v.y.n = loop.argmax.argmax_augmented_c(loop.x, &loop.augmented[0], v.gold.at, v.gold.n, loop.loss, loop.loss_weight, &loop.searched[0])
    if v.y.n < 0:
        return AUGMENTING
    v.same = judged(loop, v, v.y.at, v.y.n, &v.loss)
    if v.same < 0:
        return v.same
    if not loop.predicts:
        v.right, v.cost = v.same, v.loss
    elif not (loop.predicts_first or v.same):
        if not loop.keeps:
            loop.n_predicted = loop.argmax.argmax_c(loop.x, &loop.scores[0], &loop.predicted[0])
            if loop.n_predicted < 0:
                return SEARCHING
        v.right = judged(loop, v, &loop.predicted[0], loop.n_predicted, &v.cost)
        if v.right < 0:
            return v.right
    return 0


cdef inline int judged(Loop loop, const Visit *v, const int *y, Py_ssize_t n_y, double *loss) noexcept nogil:
    """Whether y agrees with the gold output, and its loss otherwise."""
    cdef int same = v.gold.at[0] == y[0] if loop.by_label else loop.outputs.agrees_c(loop.x, v.gold.at, v.gold.n, y, n_y)
    loss[0] = 0
    if same < 0:
        return COMPARING
    if not same:
        loss[0] = loop.loss.value_c(loop.x, v.gold.at, v.gold.n, y, n_y)
        if loss[0] < 0:
            return LOSING
    return same


cdef inline int coefficients(Loop loop, const Data *data, Visit *v) noexcept nogil:
    """Asks the rule for the coefficients of the step. Returns whether there is one."""
    cdef int steps
    loop.trial.s, loop.trial.n_visited, loop.trial.loss = &loop.scores[0], loop.weights.averaging.n_visited, v.loss
    loop.trial.gold_code, loop.trial.given_code, loop.trial.y_code = v.gold, v.gold, v.y
    loop.trial.weight = 1 if data.sample_weight == NULL else data.sample_weight[v.i]
    if loop.outputs.partial_gold:
        loop.trial.gold_code.at = &loop.completed[0]
        loop.trial.gold_code.n = loop.outputs.complete_c(loop.x, v.gold.at, v.gold.n, &loop.scores[0], &loop.completed[0])
        if loop.trial.gold_code.n < 0:
            return COMPLETING
    steps = loop.update.step_c(loop.trial)
    if loop.trial.loss != v.loss:               # the rule has an objective of its own
        v.cost = loop.trial.loss
    return RULING if steps < 0 else steps


cdef inline int add(Loop loop, PassResult passed) noexcept nogil:
    """Makes the step; 1: it was made, and then something failed."""
    cdef int status = loop.weights.update_c(loop.x, loop.trial.c)
    passed.updates += status >= 0
    return STEPPING if status < 0 else status


cdef inline void count(Loop loop, PassResult passed, const Visit *v) noexcept nogil:
    """Counts the visit."""
    if loop.counts:
        count_visit(&loop.weights.averaging)
    else:
        loop.weights.visited_c()
    passed.visited += 1
    passed.mistakes += not v.right
    passed.loss += v.cost
