// Loads a plugin that brings its own libraries, which nobody else sees.
#include "check.h"
#include <dlfcn.h>

int main(int count, char **arguments) {
    CHECK(count == 2);
    void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin);
    int (*draws)(void) = (int (*)(void))dlsym(plugin, "draws");
    CHECK(draws);
    return draws();
}
